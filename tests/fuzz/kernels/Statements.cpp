// The kernel and its statements but for loops.
#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

Program tile::fuzz::generate(uint64_t seed) { return Generator(seed).run(); }

Node Generator::statement(std::string text, std::vector<Node> children) {
  Node node;
  node.kind = Node::Kind::Statement;
  node.text = std::move(text);
  node.children = std::move(children);
  return node;
}

Node Generator::block(std::vector<Node> lines) {
  Node node;
  node.kind = Node::Kind::Block;
  node.children = std::move(lines);
  return node;
}

//===-- The kernel --------------------------------------------------------===//

void Generator::declareDims() {
  static const std::vector<int64_t> sizes = {0, 1, 1,  2,  3,  3,  4,  5,  5,  7,  7,
                                             8, 9, 11, 13, 15, 16, 17, 19, 23, 31, 33};
  for (const char *name : {"M", "N", "K"}) {
    int64_t value = sizes[random.below(sizes.size())];
    program.dims[name] = value;
    extents.push_back({name, value});
  }
  int64_t m = program.dims["M"], n = program.dims["N"];
  if (random.chance(25))
    extents.push_back({"M + 1", m + 1});
  if (random.chance(20))
    extents.push_back({"2 * N", 2 * n});
  if (random.chance(20))
    extents.push_back({"(N + 1) / 2", (n + 1) / 2});
  if (random.chance(25)) {
    int64_t literal = random.between(1, 9);
    extents.push_back({std::to_string(literal), literal});
  }
}

std::string Generator::parallelHead() {
  std::string head;
  size_t count = 1 + random.below(random.chance(20) ? 3 : 2);
  static const char *const letters[] = {"i", "j", "l"};
  for (size_t n = 0; n < count; ++n) {
    auto &[extent, length] = random.pick(extents);
    std::string name = letters[n];
    bool isEach = random.chance(22) && length <= 17;
    if (!isEach) {
      Axes all = axesWhere([](const Axis &) { return true; });
      isEach = volume(all) * length > 1500;
    }
    head += (n ? ", " : "parallel ") + name + (isEach ? " in each(" : " in tiles(") + extent + ")";
    if (isEach) {
      counters.push_back({name, extent});
      continue;
    }
    Axis axis{.name = name, .index = name, .extent = extent, .length = length};
    axis.isBlock = axis.isParallel = true;
    axes.push_back(axis);
  }
  return head;
}

Program Generator::run() {
  declareDims();
  program.bindsDims = random.chance(35);
  std::vector<Node> lines;
  bool isGrid = random.chance(9);
  std::string head = isGrid ? gridKernel(lines) : tilesKernel(lines);
  program.body = statement(head + " {$0}", {block(std::move(lines))});
  if (isGrid)
    return std::move(program); // nothing has a size
  // Tile sizes of every binder; loops have been numbered k1, k2, … as they were made.
  static const std::vector<int64_t> sizes = {1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 32, 64};
  for (int choice = 0; choice < 3; ++choice) {
    std::map<std::string, int64_t> &chosen = program.sizes.emplace_back();
    for (const char *name : {"i", "j", "l"})
      chosen[name] = sizes[random.below(sizes.size())];
    for (int loop = 1; loop <= serial; ++loop)
      chosen["k" + std::to_string(loop)] = sizes[random.below(sizes.size())];
  }
  return std::move(program);
}

/// The whole body of a kernel over tiles behind its head, which it gives.
std::string Generator::tilesKernel(std::vector<Node> &lines) {
  std::string head = parallelHead();
  size_t wholes = random.below(3);
  for (size_t n = 0; n < wholes; ++n)
    wholeAxis(lines);
  bool isInPlace = random.chance(10);
  statements(lines, static_cast<int>(random.below(5)), 2);
  bool hasOutput = false;
  if (random.chance(25)) {
    update(lines);
    hasOutput = true;
  }
  if (isInPlace) {
    inPlace(lines);
    hasOutput = true;
  }
  if (!hasOutput || random.chance(70))
    store(lines);
  if (random.chance(15))
    store(lines);
  return head;
}

/// A `:` axis, or a named whole axis or constant range.
void Generator::wholeAxis(std::vector<Node> &lines) {
  Axes all = axesWhere([](const Axis &) { return true; });
  std::vector<std::string> dims;
  for (const auto &[name, value] : program.dims)
    if (!std::any_of(axes.begin(), axes.end(),
                     [&](const Axis &a) { return !a.isBlock && a.extent == name; }))
      dims.push_back(name);
  if (dims.empty())
    return;
  std::string dim = random.pick(dims);
  if (random.chance(45)) {
    axes.push_back({.name = dim, .index = ":", .extent = dim, .length = program.dims[dim]});
    return;
  }
  std::string name = fresh("w");
  Axis axis{.name = name, .index = name, .extent = dim, .length = program.dims[dim]};
  std::string text = "let " + name + " = whole(" + dim + ")";
  if (random.chance(25)) {
    int64_t length = random.between(1, 9);
    axis.extent = std::to_string(length);
    axis.length = length;
    text = "let " + name + " = range(" + axis.extent + ")";
  }
  if (random.chance(30))
    text += " if " + condition(name, all, axis.partners), axis.isRestricted = true;
  lines.push_back(statement(text, {}));
  axes.push_back(axis);
}

void Generator::statements(std::vector<Node> &lines, int count, int depth) {
  using Maker = void (Generator::*)(std::vector<Node> &, int);
  static const std::vector<std::pair<Maker, size_t>> makers = {
      {&Generator::foldLoop, 8},         {&Generator::countedLoop, 4},
      {&Generator::branch, 3},           {&Generator::sequentialLoop, 3},
      {&Generator::reassociableLoop, 3}, {&Generator::whileLoop, 1},
      {&Generator::scanLoop, 3},         {&Generator::updateLoop, 2}};
  for (int n = 0; n < count; ++n) {
    if (random.chance(3))
      assertion(lines);
    if (random.chance(3))
      print(lines);
    if (depth <= 0 || random.chance(35)) {
      let(lines);
      continue;
    }
    size_t total = 0;
    for (auto &[maker, weight] : makers)
      total += weight;
    size_t die = random.below(total);
    for (auto &[maker, weight] : makers) {
      if (die < weight) {
        (this->*maker)(lines, depth);
        break;
      }
      die -= weight;
    }
  }
}

void Generator::let(std::vector<Node> &lines) {
  if (random.chance(25) && letAlong(lines))
    return;
  Axes allowed = someOf(axesWhere([](const Axis &) { return true; }), 75);
  std::string type = anyType("any"), name = fresh("t");
  Node made = value(type, allowed, 2);
  Axes its = made.axes;
  lines.push_back(statement("let " + name + " = $0", {std::move(made)}));
  names.push_back({name, type, its, false});
}

//===-- Outputs -----------------------------------------------------------===//

void Generator::store(std::vector<Node> &lines) {
  std::vector<std::pair<std::string, std::string>> indices;
  Axes allowed = axesWhere([](const Axis &axis) { return axis.isParallel; });
  // What has a name, or any value.
  const Name *stored = names.empty() || random.chance(60) ? nullptr : &random.pick(names);
  auto isPossible = [&](const std::string &name) {
    return isFree(axis(name)) || axis(name).isParallel;
  };
  if (stored && !std::all_of(stored->axes.begin(), stored->axes.end(), isPossible))
    stored = nullptr;
  for (const Axis &axis : axes) {
    bool isNeeded = stored && stored->axes.contains(axis.name);
    Axes more = allowed;
    more.insert(axis.name);
    if (isFree(axis) && (isNeeded || random.chance(stored ? 10 : 50)) && volume(more) <= 6000) {
      indices.push_back({axis.extent, axis.index});
      allowed = more;
    } else if (isNeeded && !axis.isParallel) {
      stored = nullptr;
    }
  }
  Node made;
  if (stored) {
    made = expression(stored->name, stored->type);
    made.axes = stored->axes;
  }
  storeInto(lines, stored ? stored->type : anyType("any half"), std::move(indices),
            [&](const std::string &type) { return stored ? made : value(type, allowed, 3); });
}

/// Stores a value to an output of the axes of all programs, and of these more, extent and index.
void Generator::storeInto(std::vector<Node> &lines, const std::string &type,
                          std::vector<std::pair<std::string, std::string>> indices,
                          const std::function<Node(const std::string &)> &make) {
  Parameter output;
  output.mode = Parameter::Mode::Out;
  output.name = fresh("y");
  output.type = type;
  for (const Axis &axis : axes)
    if (axis.isParallel)
      indices.push_back({axis.extent, axis.index});
  for (const Counter &counter : counters)
    indices.push_back({counter.extent, counter.name});
  for (size_t n = indices.size(); n > 1; --n)
    std::swap(indices[n - 1], indices[random.below(n)]);
  std::string text;
  for (auto &[extent, index] : indices) {
    output.shape.push_back(extent);
    text += (text.empty() ? "" : ", ") + index;
  }
  Node made = make(type);
  program.parameters.push_back(output);
  lines.push_back(statement(output.name + "[" + text + "] = $0", {std::move(made)}));
}

void Generator::inPlace(std::vector<Node> &lines) {
  Parameter parameter;
  parameter.mode = Parameter::Mode::InOut;
  parameter.name = fresh("z");
  parameter.type = anyType("any half");
  Axes allowed;
  std::string text;
  for (const Axis &axis : axes)
    if (axis.isParallel) {
      parameter.shape.push_back(axis.extent);
      text += (text.empty() ? "" : ", ") + axis.index;
      allowed.insert(axis.name);
    }
  for (const Counter &counter : counters) {
    parameter.shape.push_back(counter.extent);
    text += (text.empty() ? "" : ", ") + counter.name;
  }
  text = parameter.name + "[" + text + "]";
  program.parameters.push_back(parameter);
  std::string old = fresh("t");
  lines.push_back(statement("let " + old + " = " + text, {}));
  names.push_back({old, parameter.type, allowed, false});
  lines.push_back(statement(text + " = $0", {value(parameter.type, allowed, 3)}));
}

/// What is combined into a `reduce` output: reduced over blocks, by the output's own operator.
Node Generator::reducedFor(std::string &op, Parameter &output, const Axes &indexed,
                           const Axes &over) {
  static const std::map<std::string, std::string> words = {
      {"+", "sum"}, {"*", "prod"}, {"max", "max"}, {"min", "min"}, {"^", "xor"}};
  if (!words.contains(op))
    op = "^";
  // An extreme of halves would be rounded before it is complete.
  if (isFloatType(output.type) && (op == "max" || op == "min"))
    output.type = accumulatorOf(output.type);
  Node made =
      expression(words.at(op) + "($0", output.type, {reducible(output.type, indexed, over, 2)});
  for (const std::string &axis : over) {
    made.text += ", " + axis;
    made.axes.erase(axis);
  }
  made.text += ")";
  // Sums of narrow integers are wider; what is added has the output's type.
  if (op == "+" || op == "*")
    output.type = accumulatorOf(output.type);
  return made;
}

/// Combines into a `reduce` output: over whole ranges, or where the data says.
void Generator::update(std::vector<Node> &lines, bool inGrid) {
  Parameter output;
  output.mode = Parameter::Mode::Reduce;
  output.name = fresh("a");
  output.type = anyType(random.chance(80) ? "num" : "half");
  static const std::vector<std::string> operators = {"+", "+", "+", "*", "max", "min"};
  static const std::vector<std::string> bits = {"&", "|", "^"};
  bool isOfBits = !isFloatType(output.type) && random.chance(35);
  std::string op = isOfBits ? bits[random.below(3)] : operators[random.below(operators.size())];
  // Every block is in the index or reduced.
  Axes blocks = axesWhere([](const Axis &axis) { return axis.isBlock; }), indexed, over;
  bool mustReduce = false;
  for (const std::string &name : blocks) {
    mustReduce |= !axis(name).isInside;
    (axis(name).isInside && (isOfBits || random.chance(50)) ? indexed : over).insert(name);
  }
  std::string text;
  std::vector<Node> children = {Node()};
  if (!mustReduce && random.chance(isOfBits ? 50 : 30)) {
    // Data is the index; every block is in it.
    indexed = blocks;
    over.clear();
    for (size_t n = 0, count = random.chance(25) ? 2 : 1; n < count; ++n) {
      output.shape.push_back(!inGrid ? random.pick(extents).first : n ? "3" : "7");
      text += (n ? ", $" : "$") + std::to_string(children.size()) + (n ? " % 3" : " % 7");
      children.push_back(indexed.empty() ? expression("0", "i32")
                                         : withAxes(value("i32", indexed, 1), indexed));
    }
  } else {
    for (const Axis &axis : axes)
      if (indexed.contains(axis.name) || (isFree(axis) && random.chance(40))) {
        output.shape.push_back(axis.extent);
        text += (text.empty() ? "" : ", ") + axis.index;
        indexed.insert(axis.name);
      }
  }
  if (text.empty()) {
    output.shape.push_back("1");
    text = "0";
  }
  children[0] = over.empty() || (isOfBits && !mustReduce) ? value(output.type, indexed, 2)
                                                          : reducedFor(op, output, indexed, over);
  output.reduce = (random.chance(15) ? "unordered " : "") + op;
  program.parameters.push_back(output);
  lines.push_back(statement(output.name + "[" + text + "] " + op + "= $0", std::move(children)));
}

/// An update in each block of a loop.
void Generator::updateLoop(std::vector<Node> &lines, int) {
  Axes outer = axesWhere([](const Axis &axis) { return axis.isParallel; });
  Scope outside = scope();
  std::string name, head = bindLoop(name, &outer);
  std::vector<Node> body;
  if (random.chance(30))
    let(body);
  update(body);
  lines.push_back(statement(head + " {$0}", {block(std::move(body))}));
  leave(outside);
}
