//===- FusionGraphs.cpp - large graphs for the fuser ----------------------===//

#include "FusionGraphs.h"

#include <algorithm>
#include <deque>
#include <random>

using namespace tile::bench;

const char *tile::bench::nameOf(GraphFamily family) {
  switch (family) {
  case GraphFamily::Chain:
    return "chain";
  case GraphFamily::Tower:
    return "tower";
  case GraphFamily::Wide:
    return "wide";
  case GraphFamily::Mix:
    return "mix";
  case GraphFamily::Random:
    return "random";
  case GraphFamily::Skips:
    return "skips";
  case GraphFamily::Ladder:
    return "ladder";
  }
  return "";
}

namespace {
/// All tensors between the pieces are f32[M, N].
class Writer {
public:
  Writer(unsigned calls, uint64_t seed) : wanted(calls), random(seed) {}

  std::string write(GraphFamily family);

private:
  // std::uniform_int_distribution differs from library to library.
  unsigned below(unsigned count) { return static_cast<unsigned>(random() % count); }
  std::string fresh(const char *stem) { return stem + std::to_string(names++); }
  std::string param(const char *stem, const char *shape) {
    std::string name = fresh(stem);
    params += ", " + name + ": f32[" + shape + "]";
    return name;
  }
  /// The value of one call.
  std::string call(const std::string &value) {
    std::string name = fresh("t");
    body += "    let " + name + " = " + value + "\n";
    ++calls;
    return name;
  }
  bool isDone() const { return calls >= wanted; }

  std::string step(const std::string &x);
  std::string layer(const std::string &x);
  std::string readers(const std::string &x, unsigned count);
  std::string conditions();
  std::string piece(const std::string &x);
  std::string anything(const std::deque<std::string> &recent);

  unsigned wanted, calls = 0, names = 0;
  std::mt19937_64 random;
  std::string params, body;
};
} // namespace

/// One pointwise call.
std::string Writer::step(const std::string &x) {
  switch (below(5)) {
  case 0:
    return call("relu(" + x + ")");
  case 1:
    return call("0.5 * " + x + " + 0.25");
  case 2:
    return call(x + " * " + param("g", "N"));
  case 3:
    return call(x + " + " + param("b", "N"));
  default:
    return call("silu(" + x + ")");
  }
}

std::string Writer::layer(const std::string &x) {
  auto norm = [&](const std::string &of) {
    std::string gain = param("g", "N");
    return call("layer_norm(" + of + ", " + gain + ", " + param("b", "N") + ")");
  };
  std::string n = norm(x);
  std::string q = call("matmul(" + n + ", " + param("w", "N, N") + ")");
  std::string k = call("matmul(" + n + ", " + param("w", "N, N") + ")");
  std::string v = call("matmul(" + n + ", " + param("w", "N, N") + ")");
  std::string scores = call("matmul_nt(" + q + ", " + k + ")");
  std::string scaled = call("0.125 * " + scores + " + mask");
  std::string weights = call("softmax(" + scaled + ")");
  std::string heads = call("matmul(" + weights + ", " + v + ")");
  std::string mixed = call("matmul(" + heads + ", " + param("w", "N, N") + ")");
  std::string middle = call(x + " + " + mixed);
  std::string m = norm(middle);
  std::string up = call("matmul(" + m + ", " + param("w", "N, H") + ")");
  std::string active = call("gelu(" + up + " + " + param("b", "H") + ")");
  std::string down = call("matmul(" + active + ", " + param("w", "H, N") + ")");
  return call(middle + " + " + down);
}

/// So many that read one tensor, and what adds them up in pairs.
std::string Writer::readers(const std::string &x, unsigned count) {
  std::vector<std::string> open;
  for (unsigned n = 0; n < std::max(1U, count); ++n)
    open.push_back(step(x));
  while (open.size() > 1) {
    std::vector<std::string> next;
    for (size_t n = 0; n + 1 < open.size(); n += 2)
      next.push_back(call(open[n] + " + " + open[n + 1]));
    if (open.size() % 2)
      next.push_back(open.back());
    open = std::move(next);
  }
  return open.front();
}

/// What every layer makes of one and the same input.
std::string Writer::conditions() {
  std::string gain = call("x * " + param("g", "N")), shift = call("x + " + param("b", "N"));
  std::string gate = call("silu(x)"), sum = call(gain + " + " + shift);
  return call(gate + " * " + sum);
}

std::string Writer::piece(const std::string &x) {
  switch (below(4)) {
  case 0:
    return layer(x);
  case 1:
    return readers(x, 2 + below(7));
  case 2:
    return call("softmax(" + x + ")");
  default: {
    std::string y = x;
    for (unsigned n = 1 + below(8); n > 0; --n)
      y = step(y);
    return y;
  }
  }
}

std::string Writer::anything(const std::deque<std::string> &recent) {
  auto any = [&] { return recent[below(recent.size())]; };
  std::string x = any();
  switch (below(6)) {
  case 0:
    return call("softmax(" + x + ")");
  case 1:
    return call("matmul(" + x + ", " + param("w", "N, N") + ")");
  case 2:
  case 3:
    return call(x + " + " + any());
  default:
    return step(x);
  }
}

std::string Writer::write(GraphFamily family) {
  std::string last = "x";
  std::deque<std::string> recent = {"x"};
  while (!isDone()) {
    switch (family) {
    case GraphFamily::Chain:
      last = step(last);
      break;
    case GraphFamily::Tower:
      last = layer(last);
      break;
    case GraphFamily::Wide:
      last = call(last + " + " + conditions());
      break;
    case GraphFamily::Mix:
      last = piece(last);
      if (below(3) == 0)
        last = call(last + " + " + recent[below(recent.size())]);
      break;
    case GraphFamily::Random:
      last = anything(recent);
      break;
    case GraphFamily::Skips:
      last = call("relu(" + last + ") + x");
      break;
    case GraphFamily::Ladder:
      last = call("relu(" + last + ") + " + recent[recent.size() < 4 ? 0 : recent.size() - 4]);
      break;
    }
    recent.push_back(last);
    if (recent.size() > 8)
      recent.pop_front();
  }
  return "import std.nn\n\ngraph large(x: f32[M, N], mask: f32[M, M]" + params +
         ") -> (y: f32[M, N]) {\n" + body + "    y = " + last + "\n}\n";
}

std::string tile::bench::graphSource(GraphFamily family, unsigned calls, uint64_t seed) {
  return Writer(calls, seed).write(family);
}
