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
  std::string head = parallelHead();
  program.bindsDims = random.chance(35);
  std::vector<Node> lines;
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
    store(lines, false);
  if (random.chance(15))
    store(lines, false);
  program.body = statement(head + " {$0}", {block(std::move(lines))});
  // Tile sizes of every binder; loops have been numbered k1, k2, … as they were made.
  static const std::vector<int64_t> sizes = {1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 32, 64};
  for (int choice = 0; choice < 3; ++choice) {
    std::map<std::string, int64_t> &chosen = program.sizes.emplace_back();
    for (const char *name : {"i", "j", "l"})
      chosen[name] = sizes[random.below(sizes.size())];
    for (int loop = 1; loop <= serial; ++loop)
      chosen["k" + std::to_string(loop)] = sizes[random.below(sizes.size())];
  }
  return program;
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
    text += " if " + condition(name, all, axis.partners);
  lines.push_back(statement(text, {}));
  axes.push_back(axis);
}

void Generator::statements(std::vector<Node> &lines, int count, int depth) {
  using Maker = void (Generator::*)(std::vector<Node> &, int);
  static const std::vector<std::pair<Maker, size_t>> makers = {
      {&Generator::foldLoop, 8},         {&Generator::countedLoop, 4},
      {&Generator::branch, 3},           {&Generator::sequentialLoop, 3},
      {&Generator::reassociableLoop, 3}, {&Generator::whileLoop, 1}};
  for (int n = 0; n < count; ++n) {
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
  Axes allowed = someOf(axesWhere([](const Axis &) { return true; }), 75);
  std::string type = anyType("any"), name = fresh("t");
  Node made = value(type, allowed, 2);
  Axes its = made.axes;
  lines.push_back(statement("let " + name + " = $0", {std::move(made)}));
  names.push_back({name, type, its, false});
}

//===-- Variables and loops -----------------------------------------------===//

Generator::Name Generator::variable(std::vector<Node> &lines, const std::string &type,
                                    const Axes &axesOfIt) {
  Name name{fresh("v"), type, axesOfIt, true};
  Node init;
  std::string list;
  for (const std::string &a : axesOfIt)
    list += ", " + a;
  if (axesOfIt.empty())
    init = leaf(type, {});
  else if (random.chance(60))
    init = expression("full(" + type + ", " +
                          (type == "bool"      ? "false"
                           : random.chance(70) ? "0"
                                               : "1") +
                          list + ")",
                      type);
  else
    init = withAxes(value(type, axesOfIt, 1), axesOfIt);
  lines.push_back(statement("var " + name.name + " = $0", {std::move(init)}));
  return name;
}

std::string Generator::bindLoop(std::string &name, const Axes *others) {
  name = fresh("k");
  auto &[extent, length] = random.pick(extents);
  Axis axis{.name = name, .index = name, .extent = extent, .length = length};
  axis.isBlock = true;
  std::string head = "for " + name + " in tiles(" + extent + ")";
  if (random.chance(25)) {
    // Another range, perhaps one that is data.
    axis.isInside = false;
    std::string lo = std::to_string(random.between(-2, 3)),
                hi = std::to_string(random.between(0, 12));
    if (random.chance(40)) {
      Node bound = load("i32", {});
      size_t end = bound.text.find_first_of("[.");
      for (Parameter &parameter : program.parameters)
        if (parameter.name == bound.text.substr(0, end))
          parameter.indexLimit = 9;
      hi = bound.str();
    }
    axis.length = 12;
    head = "for " + name + " in tiles(" + lo + ".." + hi + ")";
  }
  if (others && random.chance(35))
    head += " if " + condition(name, *others, axis.partners);
  axes.push_back(axis);
  return head;
}

void Generator::foldLoop(std::vector<Node> &lines, int depth) {
  std::vector<Name> variables;
  Axes outer = axesWhere([](const Axis &axis) { return axis.isParallel; });
  size_t count = 1 + random.below(2);
  std::vector<std::string> types;
  for (size_t n = 0; n < count; ++n) {
    std::string type = random.chance(20) ? "bool" : anyType("num");
    variables.push_back(variable(lines, type, someOf(outer, 70)));
  }
  Axes common = outer;
  for (const Name &variable : variables)
    std::erase_if(common, [&](const std::string &a) { return !variable.axes.contains(a); });
  Scope outside = scope();
  std::string name;
  std::string head = bindLoop(name, &common);
  std::vector<Node> body;
  if (random.chance(25))
    let(body);
  Axes over = {name};
  bool isNested = depth > 1 && random.chance(25);
  std::string innerHead, inner;
  std::vector<Node> innerBody;
  if (isNested) {
    common.insert(name);
    innerHead = bindLoop(inner, &common);
    over.insert(inner);
  }
  for (const Name &variable : variables) {
    Axes allowed = variable.axes;
    auto [node, fold] = partial(variable.type, allowed, over, 2);
    // A fold of booleans or extremes over a wider type has no conversion: types are equal.
    (isNested ? innerBody : body)
        .push_back(statement(variable.name + " " + fold + " $0", {std::move(node)}));
  }
  if (isNested)
    body.push_back(statement(innerHead + " {$0}", {block(std::move(innerBody))}));
  lines.push_back(statement(head + " {$0}", {block(std::move(body))}));
  leave(outside);
  for (const Name &variable : variables)
    names.push_back(variable);
}

/// Any recurrence, on blocks of a size that is part of the meaning.
void Generator::sequentialLoop(std::vector<Node> &lines, int depth) {
  Axes outer = axesWhere([](const Axis &axis) { return axis.isParallel; });
  std::vector<Name> variables;
  size_t count = 1 + random.below(2);
  for (size_t n = 0; n < count; ++n)
    variables.push_back(variable(lines, anyType("any"), someOf(outer, 70)));
  Scope outside = scope();
  std::string name, head = bindLoop(name, nullptr);
  names.insert(names.end(), variables.begin(), variables.end());
  std::vector<Node> body;
  for (const Name &variable : variables) {
    Axes allowed = variable.axes;
    if (random.chance(60) && accumulatorOf(variable.type) == variable.type &&
        variable.type != "bool") {
      auto [node, fold] = partial(variable.type, allowed, {name}, 2);
      Node other = value(variable.type, allowed, 2);
      body.push_back(statement(variable.name + " = $0 + $1", {std::move(node), std::move(other)}));
    } else {
      body.push_back(statement(variable.name + " = $0",
                               {withAxes(value(variable.type, allowed, 2), allowed)}));
    }
  }
  lines.push_back(statement(head + " sequential(" + std::to_string(random.between(1, 6)) + ") {$0}",
                            {block(std::move(body))}));
  leave(outside);
  names.insert(names.end(), variables.begin(), variables.end());
}

/// Recurrences that don't depend on the cuts, in other words than those of a fold.
void Generator::reassociableLoop(std::vector<Node> &lines, int depth) {
  Axes outer = someOf(axesWhere([](const Axis &axis) { return axis.isParallel; }), 70);
  std::string type = anyType("i32 i64 u8 i16 f32 f64");
  bool isFloat = isFloatType(type);
  std::string acc = isFloat ? type : accumulatorOf(type);
  std::string list;
  for (const std::string &a : outer)
    list += ", " + a;
  auto start = [&](const std::string &name, const std::string &of, const std::string &number) {
    lines.push_back(statement(
        "var " + name + " = " +
            (outer.empty() ? of + "(" + number + ")" : "full(" + of + ", " + number + list + ")"),
        {}));
    return Name{name, of, outer, true};
  };
  size_t form = random.below(isFloat ? 2 : 4);
  std::vector<Name> variables = {start(fresh("v"), form == 1 && !isFloat ? acc : type, "0")};
  if (form >= 2)
    variables.push_back(start(fresh("v"), "i32", "0"));
  Scope outside = scope();
  std::string name, head = bindLoop(name, &outer);
  std::vector<Node> body;
  const std::string &v = variables[0].name;
  Node x = reducible(type, outer, {name}, 2);
  if (form == 0) {
    body.push_back(statement(v + " = max(" + v + ", max($0, " + name + "))", {std::move(x)}));
  } else if (form == 1) {
    body.push_back(statement(v + " = " + v + " + " + "sum($0, " + name + ")", {std::move(x)}));
  } else {
    // The greatest so far, and how often it came: each is needed by the other.
    std::string t = fresh("t"), m = fresh("t");
    body.push_back(statement("let " + t + " = $0", {std::move(x)}));
    body.push_back(statement("let " + m + " = max(" + v + ", max(" + t + ", " + name + "))", {}));
    const std::string &n = variables[1].name;
    body.push_back(statement(n + " = where(" + m + " > " + v + ", 0, " + n + ") + sum(where(" + t +
                                 " == " + m + ", i32(1), i32(0)), " + name + ")",
                             {}));
    body.push_back(statement(v + " = " + m, {}));
  }
  lines.push_back(statement(head + " reassociable {$0}", {block(std::move(body))}));
  leave(outside);
  names.insert(names.end(), variables.begin(), variables.end());
}

/// Assignments in sequence, so that variables need each other's old and new values.
void Generator::assignSome(std::vector<Node> &lines, const std::vector<Name> &variables,
                           int depth) {
  size_t count = 1 + random.below(3);
  static const std::vector<std::string> operators = {"=", "=", "=", "+=", "*=", "max=", "min="};
  static const std::vector<std::string> integral = {"^=", "&=", "|=", "-="};
  for (size_t n = 0; n < count; ++n) {
    const Name &variable = variables[random.below(variables.size())];
    bool isNumber = variable.type != "bool";
    std::string assignment = isNumber ? operators[random.below(operators.size())] : "=";
    if (isNumber && !isFloatType(variable.type) && random.chance(30))
      assignment = integral[random.below(integral.size())];
    Node node = value(variable.type, variable.axes, 2);
    if (assignment == "=")
      node = withAxes(std::move(node), variable.axes);
    lines.push_back(statement(variable.name + " " + assignment + " $0", {std::move(node)}));
  }
  if (depth > 1 && random.chance(20)) {
    Scope inner = scope();
    branch(lines, depth - 1);
    leave(inner);
  }
}

void Generator::countedLoop(std::vector<Node> &lines, int depth) {
  Axes all = axesWhere([](const Axis &) { return true; });
  std::vector<Name> variables;
  std::string type = anyType("any");
  for (size_t n = 0, count = 1 + random.below(3); n < count; ++n)
    variables.push_back(
        variable(lines, n ? (random.chance(70) ? type : anyType("any")) : type, someOf(all, 60)));
  Scope outside = scope();
  std::string name = fresh("r");
  static const std::vector<std::string> ranges = {
      "0..3", "0..1",         "2..7 step 2",   "-1..2", "0..0",
      "5..2", "0..4 step -1", "-2..6 step -3", "0..K",  "0..K step -1"};
  std::string range = ranges[random.below(ranges.size())];
  bool isWhole = range.starts_with("0..K");
  counters.push_back({name, isWhole ? "K" : ""});
  if (isWhole && program.dims["K"] > 9)
    range = "0..4", counters.back().extent = "";
  names.insert(names.end(), variables.begin(), variables.end());
  std::vector<Node> body;
  if (random.chance(30))
    let(body);
  assignSome(body, variables, depth);
  lines.push_back(statement("for " + name + " in " + range + " {$0}", {block(std::move(body))}));
  leave(outside);
  names.insert(names.end(), variables.begin(), variables.end());
}

void Generator::branch(std::vector<Node> &lines, int depth) {
  std::vector<Name> variables;
  for (const Name &name : names)
    if (name.isVariable)
      variables.push_back(name);
  if (variables.empty() || random.chance(30)) {
    variables = {
        variable(lines, anyType("any"), someOf(axesWhere([](const Axis &) { return true; }), 60))};
    names.push_back(variables[0]);
  }
  Node test = value("bool", {}, 2);
  Scope inside = scope();
  std::vector<Node> yes, no;
  assignSome(yes, variables, depth - 1);
  leave(inside);
  if (random.chance(50)) {
    assignSome(no, variables, depth - 1);
    leave(inside);
    lines.push_back(statement("if $0 {$1} else {$2}",
                              {std::move(test), block(std::move(yes)), block(std::move(no))}));
  } else {
    lines.push_back(statement("if $0 {$1}", {std::move(test), block(std::move(yes))}));
  }
}

void Generator::whileLoop(std::vector<Node> &lines, int depth) {
  Axes all = axesWhere([](const Axis &) { return true; });
  std::vector<Name> variables = {variable(lines, anyType("any"), someOf(all, 60))};
  std::string turn = fresh("u");
  lines.push_back(statement("var " + turn + " = i32(0)", {}));
  Node test = value("bool", {}, 1);
  Scope outside = scope();
  names.push_back(variables[0]);
  names.push_back({turn, "i32", {}, false});
  std::vector<Node> body;
  assignSome(body, variables, depth - 1);
  body.push_back(statement(turn + " += 1", {}));
  lines.push_back(statement("while " + turn + " < " + std::to_string(random.between(1, 3)) +
                                (random.chance(50) ? " && $0" : "") + " {$1}",
                            {std::move(test), block(std::move(body))}));
  leave(outside);
  names.push_back(variables[0]);
}

//===-- Outputs -----------------------------------------------------------===//

void Generator::store(std::vector<Node> &lines, bool inLoop) {
  Parameter output;
  output.mode = Parameter::Mode::Out;
  output.name = fresh("y");
  output.type = anyType("any half");
  std::vector<std::pair<std::string, std::string>> indices;
  Axes allowed;
  for (const Axis &axis : axes)
    if (axis.isParallel) {
      indices.push_back({axis.extent, axis.index});
      allowed.insert(axis.name);
    }
  for (const Counter &counter : counters)
    indices.push_back({counter.extent, counter.name});
  // Whole axes without conditions.
  for (const Axis &axis : axes) {
    bool isFree = !axis.isBlock && axis.partners.empty() && random.chance(50);
    for (const Node &line : lines)
      isFree &= line.text.find("let " + axis.name + " = ") == std::string::npos ||
                line.text.find(" if ") == std::string::npos;
    Axes more = allowed;
    more.insert(axis.name);
    if (isFree && volume(more) <= 6000) {
      indices.push_back({axis.extent, axis.index});
      allowed = more;
    }
  }
  for (size_t n = indices.size(); n > 1; --n)
    std::swap(indices[n - 1], indices[random.below(n)]);
  std::string text;
  for (auto &[extent, index] : indices) {
    output.shape.push_back(extent);
    text += (text.empty() ? "" : ", ") + index;
  }
  Node made = value(output.type, allowed, 3);
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

/// Combines into a `reduce` output: over whole ranges, or where the data says.
void Generator::update(std::vector<Node> &lines) {
  Parameter output;
  output.mode = Parameter::Mode::Reduce;
  output.name = fresh("a");
  output.type = anyType(random.chance(80) ? "num" : "half");
  static const std::vector<std::string> operators = {"+", "+", "+", "*", "max", "min"};
  output.reduce = operators[random.below(operators.size())];
  if (!isFloatType(output.type) && random.chance(35)) {
    static const std::vector<std::string> bits = {"&", "|", "^"};
    output.reduce = bits[random.below(bits.size())];
  }
  bool isOfBits = output.reduce == "&" || output.reduce == "|" || output.reduce == "^";
  Axes parallel = axesWhere([](const Axis &axis) { return axis.isParallel; }), indexed, over;
  for (const std::string &name : parallel)
    (isOfBits || random.chance(50) ? indexed : over).insert(name);
  std::string text;
  std::vector<Node> children;
  if (random.chance(30) || (isOfBits && random.chance(50))) {
    // Where the data says; every span is in the index.
    indexed = parallel;
    over.clear();
    auto &[extent, length] = random.pick(extents);
    output.shape.push_back(extent);
    Node index =
        indexed.empty() ? expression("0", "i32") : withAxes(value("i32", indexed, 1), indexed);
    text = "$1 % 7";
    children.push_back(index);
  } else {
    for (const Axis &axis : axes)
      if (indexed.contains(axis.name) ||
          (!axis.isBlock && axis.partners.empty() && random.chance(40))) {
        output.shape.push_back(axis.extent);
        text += (text.empty() ? "" : ", ") + axis.index;
        indexed.insert(axis.name);
      }
    if (text.empty()) {
      output.shape.push_back("1");
      text = "0";
    }
  }
  std::string name = output.reduce == "+" ? "sum" : output.reduce == "*" ? "prod" : output.reduce;
  Node made;
  if (over.empty() || isOfBits) {
    made = value(output.type, indexed, 2);
  } else {
    std::string operand = output.type;
    made = expression(name + "($0", output.type, {reducible(operand, indexed, over, 2)});
    for (const std::string &axis : over) {
      made.text += ", " + axis;
      made.axes.erase(axis);
    }
    made.text += ")";
    // Sums of narrow integers are wider; what is added has the output's type.
    bool widens = (name == "sum" || name == "prod") && accumulatorOf(operand) != output.type;
    if (widens)
      output.type = accumulatorOf(operand);
  }
  program.parameters.push_back(output);
  std::string assignment = output.reduce == "max" || output.reduce == "min"
                               ? " " + output.reduce + "= $0"
                               : " " + output.reduce + "= $0";
  children.insert(children.begin(), std::move(made));
  lines.push_back(statement(output.name + "[" + text + "]" + assignment, std::move(children)));
}
