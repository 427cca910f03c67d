// Variables, loops and branches.
#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

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
      if (bound.text.find(".pad(") == std::string::npos) // which may be huge
        hi = bound.str();
    }
    axis.length = 12;
    head = "for " + name + " in tiles(" + lo + ".." + hi + ")";
  }
  if (others && random.chance(35))
    head += " if " + condition(name, *others, axis.partners), axis.isRestricted = true;
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
  // What joins two parts of the range.
  std::string merge, states = form < 2 ? "(a0, a1)" : "(a0, b0, a1, b1)";
  if (form == 0) {
    body.push_back(statement(v + " = max(" + v + ", max($0, " + name + "))", {std::move(x)}));
    merge = "max(a0, a1)";
  } else if (form == 1) {
    body.push_back(statement(v + " = " + v + " + " + "sum($0, " + name + ")", {std::move(x)}));
    merge = "a0 + a1";
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
    merge = "(max(a0, a1), where(a0 >= a1, b0, 0) + where(a1 >= a0, b1, 0))";
  }
  std::string how = " reassociable";
  if (random.chance(50)) {
    Node declaration = expression("fn " + fresh("f") + states + " = " + merge, "");
    declaration.type = declaration.text.substr(3, declaration.text.find('(') - 3);
    declaration.kind = Node::Kind::Statement;
    program.declarations.push_back(declaration);
    how += " merge " + declaration.type;
  }
  lines.push_back(statement(head + how + " {$0}", {block(std::move(body))}));
  leave(outside);
  names.insert(names.end(), variables.begin(), variables.end());
}

/// Assignments in sequence, so that variables need each other's old and new values.
void Generator::assignSome(std::vector<Node> &lines, const std::vector<Name> &variables,
                           int depth) {
  if (random.chance(2))
    assertion(lines);
  if (random.chance(2))
    print(lines);
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
  std::string turn = fresh("turn");
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
