#include "tests/fuzz/graphs/GraphGenerator.h"

#include <algorithm>

using namespace tile::fuzz;

static const int64_t mostElements = 3000;

std::string GraphGenerator::anyFloat() {
  static const std::vector<std::string> floats = {"f32", "f32", "f32", "f32", "f16", "bf16", "f64"};
  return random.pick(floats);
}

std::string GraphGenerator::anyType() {
  static const std::vector<std::string> others = {"i32", "i32", "i64", "i8", "u8", "bool", "bool"};
  return random.chance(isSmooth() ? 100 : 75) ? anyFloat() : random.pick(others);
}

GraphTensor GraphGenerator::newInput(const std::string &type, std::vector<std::string> shape) {
  GraphTensor tensor{"x" + std::to_string(++inputSerial), type, std::move(shape), {}, 4};
  for (const std::string &extent : tensor.shape)
    tensor.extents.push_back(valueOf(extent));
  program.inputs.push_back(tensor);
  return tensor;
}

GraphTensor GraphGenerator::anyTensor(const std::function<bool(const GraphTensor &)> &wanted,
                                      const std::function<GraphTensor()> &make, int percentNew) {
  std::vector<GraphTensor> found;
  for (const GraphTensor &input : program.inputs)
    if (wanted(input))
      found.push_back(input);
  for (const GraphCall &call : program.calls)
    for (const GraphTensor &result : call.results)
      if (wanted(result))
        found.push_back(result);
  if (found.empty() || random.chance(percentNew))
    return make();
  // Mostly one of the last few.
  size_t last = random.chance(70) ? std::min<size_t>(3, found.size()) : found.size();
  return found[found.size() - 1 - random.below(last)];
}

GraphTensor GraphGenerator::tensorOf(const std::string &type,
                                     const std::vector<std::string> &shape) {
  return anyTensor([&](const GraphTensor &t) { return t.type == type && t.shape == shape; },
                   [&] { return newInput(type, shape); });
}

GraphTensor GraphGenerator::tensorOfRank(size_t rank, const std::string &type) {
  return anyTensor(
      [&](const GraphTensor &t) {
        return t.shape.size() == rank && (type.empty() || t.type == type);
      },
      [&] {
        std::vector<std::string> shape;
        static const std::vector<std::string> names = {"M", "N", "K", "P"};
        for (size_t d = 0; d < rank; ++d)
          shape.push_back(random.chance(6) ? "1" : random.pick(names));
        return newInput(type.empty() ? anyType() : type, shape);
      });
}

/// The value of `a`, `12`, or of an expression in brackets, by recursive descent.
static int64_t evaluate(const std::string &text, size_t &at,
                        const std::map<std::string, int64_t> &dims) {
  auto skip = [&] {
    while (at < text.size() && text[at] == ' ')
      ++at;
  };
  std::function<int64_t()> sum, product, primary;
  primary = [&]() -> int64_t {
    skip();
    if (text[at] == '(') {
      ++at;
      int64_t value = sum();
      skip();
      ++at;
      return value;
    }
    if (text[at] >= '0' && text[at] <= '9') {
      int64_t value = 0;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9')
        value = value * 10 + (text[at++] - '0');
      return value;
    }
    return dims.at(text.substr(at++, 1));
  };
  product = [&]() -> int64_t {
    int64_t value = primary();
    for (skip(); at < text.size() && (text[at] == '*' || text[at] == '/'); skip()) {
      bool isQuotient = text[at++] == '/';
      int64_t other = primary();
      value = isQuotient ? value / other : value * other; // neither is negative
    }
    return value;
  };
  sum = [&]() -> int64_t {
    int64_t value = product();
    for (skip(); at < text.size() && (text[at] == '+' || text[at] == '-'); skip()) {
      bool isDifference = text[at++] == '-';
      int64_t other = product();
      value = isDifference ? value - other : value + other;
    }
    return value;
  };
  return sum();
}

int64_t GraphGenerator::valueOf(const std::string &extent) const {
  size_t at = 0;
  return evaluate(extent, at, program.dims);
}

bool GraphGenerator::add(GraphCall call) {
  for (GraphTensor &result : call.results) {
    int64_t elements = 1;
    result.extents.clear();
    for (const std::string &extent : result.shape) {
      if (extent.size() > 24)
        return false;
      result.extents.push_back(valueOf(extent));
      elements *= result.extents.back();
    }
    if (elements > mostElements)
      return false;
    if (result.name.empty())
      result.name = newName();
  }
  program.calls.push_back(std::move(call));
  return true;
}

GraphTensor GraphGenerator::small(GraphTensor tensor, double terms) {
  if (!isExact() || !isFloatType(tensor.type) || tensor.limit * tensor.limit * terms < 1 << 20)
    return tensor;
  GraphCall call;
  Leaf leaf = wrapped({"x", tensor.type, tensor.limit});
  call.declaration = "map $K(x: " + tensor.type + ") -> " + tensor.type + " = " + leaf.text + "\n";
  call.text = "$K($0)";
  call.operands = {tensor.name};
  tensor.name.clear();
  tensor.limit = leaf.limit;
  call.results = {tensor};
  add(std::move(call));
  return program.calls.back().results.front();
}

/// A map that is declared, with operands that broadcast.
bool GraphGenerator::mapCall() {
  GraphTensor first = tensorOfRank(random.between(1, 3));
  GraphCall call;
  std::vector<Leaf> leaves;
  std::string params;
  std::vector<GraphTensor> operands = {first};
  while (operands.size() < 3 && random.chance(45)) {
    // The last dims of the first, or 1 in their place.
    std::vector<std::string> shape(first.shape.end() -
                                       random.between(1, static_cast<int64_t>(first.shape.size())),
                                   first.shape.end());
    for (std::string &extent : shape)
      if (random.chance(12))
        extent = "1";
    std::string type = random.chance(60) ? first.type : anyType();
    operands.push_back(tensorOf(type, shape));
  }
  for (const GraphTensor &operand : operands) {
    std::string name(1, static_cast<char>('a' + call.operands.size()));
    params += (params.empty() ? "" : ", ") + name + ": " + operand.type;
    leaves.push_back({name, operand.type, operand.limit});
    call.text += (call.operands.empty() ? "" : ", ") + ("$" + std::to_string(call.operands.size()));
    call.operands.push_back(operand.name);
  }
  if (random.chance(6)) {
    bool isExactNow = isExact();
    leaves.push_back(isExactNow
                         ? Leaf{"floor(rand(7, " + std::to_string(serial) + ") * 8)", "f32", 8}
                         : Leaf{"rand(7, " + std::to_string(serial) + ")", "f32", 1});
  }
  std::string type = random.chance(60) ? first.type : anyType();
  Leaf value = expression(type, leaves);
  call.declaration = "map $K(" + params + ") -> " + type + " = " + value.text + "\n";
  call.text = "$K(" + call.text + ")";
  call.results = {{"", type, first.shape, {}, value.limit}};
  return add(std::move(call));
}

/// Operators and maps of the library on tensors.
bool GraphGenerator::operators() {
  GraphTensor a = tensorOfRank(random.between(1, 3), anyFloat());
  GraphTensor b = tensorOf(a.type, a.shape);
  GraphCall call;
  call.operands = {a.name, b.name};
  struct Form {
    const char *text;
    double limit;
    bool isExact;
  };
  const Form forms[] = {{"$0 + $1", a.limit + b.limit, true},
                        {"$0 - 2 * $1", a.limit + 2 * b.limit, true},
                        {"$0 * $1", a.limit * b.limit, true},
                        {"relu($0 - $1)", a.limit + b.limit, true},
                        {"max($0, $1) - 1", std::max(a.limit, b.limit) + 1, true},
                        {"relu6($0) + abs($1)", 6 + b.limit, true},
                        {"$0 * $1 + $0", 0, false},
                        {"gelu($0) * $1", 0, false},
                        {"sigmoid($0) + $1 * $1", 0, false},
                        {"tanh($0 + $1)", 0, false}};
  const Form &form = forms[random.below(std::size(forms))];
  if (isExact() && (!form.isExact || form.limit > 2000))
    return false;
  call.text = isSmooth() && !std::string(form.text).starts_with("tanh")
                  ? "tanh(" + std::string(form.text) + ")"
                  : form.text;
  call.results = {{"", a.type, a.shape, {}, form.limit * 1.02}};
  return add(std::move(call));
}

GraphProgram GraphGenerator::run() {
  static const Values all[] = {Values::Exact, Values::Exact, Values::Smooth, Values::Rough,
                               Values::Rough};
  program.values = all[random.below(std::size(all))];
  static const std::vector<int64_t> lengths = {1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 31};
  for (const char *name : {"M", "N", "K", "P"})
    program.dims[name] = random.chance(3) ? 0 : random.pick(lengths);
  int64_t wanted = random.chance(20) ? random.between(25, 60) : random.between(10, 24);
  newInput("f32", {"M", "N"});
  using Maker = bool (GraphGenerator::*)();
  static const std::vector<std::pair<Maker, size_t>> makers = {{&GraphGenerator::kernelCall, 50},
                                                               {&GraphGenerator::templateCall, 24},
                                                               {&GraphGenerator::mapCall, 12},
                                                               {&GraphGenerator::operators, 8},
                                                               {&GraphGenerator::randomKernel, 6}};
  for (int64_t tries = 0; tries < 4 * wanted; ++tries) {
    if (static_cast<int64_t>(program.calls.size()) >= wanted)
      break;
    size_t choice = random.below(100);
    for (auto [maker, weight] : makers) {
      if (choice < weight) {
        (this->*maker)();
        break;
      }
      choice -= weight;
    }
  }
  // What nobody uses is an output, and some of the rest.
  std::set<std::string> used;
  for (const GraphCall &call : program.calls)
    used.insert(call.operands.begin(), call.operands.end());
  for (const GraphCall &call : program.calls)
    for (const GraphTensor &result : call.results)
      if (!used.count(result.name) || random.chance(4))
        program.outputs.push_back(result.name);
  repeatSome();
  return std::move(program);
}

/// What fusion drops first: calls that give what others give, by the same kernel or one that is
/// equal, and calls that nobody needs.
void GraphGenerator::repeatSome() {
  Random extra(program.seed ^ 0x94d049bb133111eb);
  if (program.calls.empty() || !extra.chance(40))
    return;
  for (int64_t count = extra.between(1, 3); count > 0; --count) {
    size_t at = extra.below(program.calls.size());
    GraphCall copy = program.calls[at];
    if (!copy.declaration.empty() && extra.chance(50))
      copy.declaration += "\n"; // a kernel of its own
    for (GraphTensor &result : copy.results) {
      std::string old = std::exchange(result.name, newName());
      for (size_t user = at + 1; user < program.calls.size(); ++user)
        for (std::string &operand : program.calls[user].operands)
          if (operand == old && extra.chance(40))
            operand = result.name;
      if (extra.chance(20))
        program.outputs.push_back(result.name);
    }
    program.calls.insert(program.calls.begin() + static_cast<int64_t>(at) + 1, std::move(copy));
  }
  if (program.outputs.size() > 1)
    program.outputs.erase(program.outputs.begin() +
                          static_cast<int64_t>(extra.below(program.outputs.size())));
}

GraphProgram tile::fuzz::generateGraph(uint64_t seed) { return GraphGenerator(seed).run(); }
