//===- FusionGraphs.cpp - large graphs for the fuser ----------------------===//

#include "FusionGraphs.h"

#include <algorithm>
#include <deque>
#include <limits>
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
  case GraphFamily::Far:
    return "far";
  case GraphFamily::Star:
    return "star";
  case GraphFamily::Kinds:
    return "kinds";
  case GraphFamily::Dense:
    return "dense";
  case GraphFamily::Siblings:
    return "sibling";
  }
  return "";
}

unsigned tile::bench::mostCalls(GraphFamily family) {
  switch (family) {
  case GraphFamily::Star: // of an input each, of which a kernel has at most 100
    return 100;
  case GraphFamily::Dense:
    return 120;
  case GraphFamily::Kinds:
  case GraphFamily::Siblings:
    return 1000;
  case GraphFamily::Far:
    return 3000;
  default:
    return std::numeric_limits<unsigned>::max();
  }
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
  std::string writeSteps(GraphFamily family);
  std::string writeStar(bool isOfKinds);
  std::string writeDense();
  void writeSiblings();

  unsigned wanted, calls = 0, names = 0;
  std::mt19937_64 random;
  std::string params, body, outputs;
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

static std::string sumOf(const std::vector<std::string> &values) {
  std::string sum = values.front();
  for (size_t n = 1; n < values.size(); ++n)
    sum += " + " + values[n];
  return sum;
}

std::string Writer::writeStar(bool isOfKinds) {
  std::vector<std::string> values;
  while (calls + 1 < wanted) {
    std::string number = std::to_string(calls + 1);
    values.push_back(call(isOfKinds ? number + ".0 * x + " + number + ".5"
                                    : "tanh(" + param("x", "M, N") + ")"));
  }
  return call(sumOf(values));
}

std::string Writer::writeDense() {
  std::vector<std::string> values = {"x"};
  while (!isDone())
    values.push_back(call("tanh(" + sumOf(values) + ")"));
  return values.back();
}

void Writer::writeSiblings() {
  while (++calls < wanted) {
    std::string number = std::to_string(calls);
    outputs += ", y" + number + ": f32[M, N]";
    body += "    y" + number + " = " + number + ".0 * x + " + number + ".5\n";
  }
}

std::string Writer::writeSteps(GraphFamily family) {
  // How many steps back the skips of ladders go.
  size_t back = family == GraphFamily::Far ? 500 : 4;
  size_t most = std::max<size_t>(back, 8);
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
    default:
      last =
          call("relu(" + last + ") + " + recent[recent.size() < back ? 0 : recent.size() - back]);
      break;
    }
    recent.push_back(last);
    if (recent.size() > most)
      recent.pop_front();
  }
  return last;
}

std::string Writer::write(GraphFamily family) {
  std::string last;
  switch (family) {
  case GraphFamily::Star:
  case GraphFamily::Kinds:
    last = writeStar(family == GraphFamily::Kinds);
    break;
  case GraphFamily::Dense:
    last = writeDense();
    break;
  case GraphFamily::Siblings:
    writeSiblings();
    last = "relu(x)";
    break;
  default:
    last = writeSteps(family);
  }
  return "import std.nn\n\ngraph large(x: f32[M, N], mask: f32[M, M]" + params +
         ") -> (y: f32[M, N]" + outputs + ") {\n" + body + "    y = " + last + "\n}\n";
}

std::string tile::bench::graphSource(GraphFamily family, unsigned calls, uint64_t seed) {
  return Writer(calls, seed).write(family);
}
