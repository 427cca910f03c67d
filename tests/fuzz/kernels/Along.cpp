// What runs along axes: scans, reductions by a function, orders, shapes.
#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

namespace {
/// A function of two states, of one or more values. Each part's types: a class, or `=`, those of
/// the first part. Parameters are a0, b0, …, a1, b1, …
struct Combination {
  std::vector<const char *> parts;
  const char *body;
};
} // namespace

static const std::vector<Combination> combinations = {
    {{"num"}, "a0 + a1"},
    {{"num"}, "a0 * a1"},
    {{"num"}, "a0 * a1 + a0 + a1"},
    {{"num"}, "where(a1 != 0, a1, a0)"},
    {{"num"}, "where(a1 > a0, a1, a0)"},
    {{"int"}, "a0 ^ a1"},
    {{"int"}, "(a0 & a1) | (a0 & 5) | (a1 & 5)"},
    {{"bool"}, "a0 != a1"},
    {{"bool"}, "a0 && a1"},
    {{"num", "="}, "(a0 * a1, a1 * b0 + b1)"},
    {{"num", "any"}, "(max(a0, a1), where(a1 > a0, b1, b0))"},
    {{"num", "any"}, "(min(a0, a1), where(a1 <= a0, b1, b0))"},
    {{"num", "num"}, "(a0 + a1, b0 + b1)"},
    {{"num", "="}, "(min(a0, a1), max(b0, b1))"},
    {{"any", "bool"}, "(where(b1, a1, a0), b0 || b1)"},
    {{"num", "bool"}, "(where(b1, a1, a0 + a1), b0 || b1)"},
    {{"int", "=", "="}, "(a0 ^ a1, b0 & b1, c0 | c1)"},
    {{"int", "=", "=", "="},
     "(a0 * a1 + b0 * c1, a0 * b1 + b0 * d1, c0 * a1 + d0 * c1, c0 * b1 + d0 * d1)"},
    // Counts, means and sums of squared differences.
    {{"f32 f64", "=", "="},
     "(a0 + a1, b0 + (b1 - b0) * where(a0 + a1 > 0, a1 / (a0 + a1), 0), "
     "c0 + c1 + (b1 - b0) * (b1 - b0) * a0 * where(a0 + a1 > 0, a1 / (a0 + a1), 0))"},
};

static std::string joined(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &word : list)
    text += (text.empty() ? "" : ", ") + word;
  return list.size() == 1 ? text : "(" + text + ")";
}

//===-- Functions of states -----------------------------------------------===//

/// What combines states: its name. A state of one value has type `type` if that is not empty.
std::string Generator::combiner(std::vector<std::string> &types, const std::string &type) {
  bool isNumber = type != "bool" && !type.starts_with("f8");
  if (!type.empty()) {
    types = {type};
    if (isNumber && random.chance(20))
      return random.chance(50) ? "max" : "min";
    if (isFloatType(type) && isNumber && random.chance(15))
      return random.chance(50) ? "fmax" : "fmin";
    if (random.chance(30)) // not associative, but combined one after the other
      if (std::string name = elementwiseMap(type, type, type); !name.empty())
        return name;
  }
  std::vector<const Combination *> fitting;
  for (const Combination &rule : combinations) {
    std::vector<std::string> first = typesOf(rule.parts[0]);
    if (type.empty()
            ? rule.parts.size() > 1 || random.chance(30)
            : rule.parts.size() == 1 && std::find(first.begin(), first.end(), type) != first.end())
      fitting.push_back(&rule);
  }
  std::string name = fresh("f");
  const char *body = "where(bitcast(u8, a1) > 7, a1, a0)"; // of types without arithmetic
  std::vector<const char *> parts = {"any"};
  if (!fitting.empty()) {
    const Combination &rule = *random.pick(fitting);
    body = rule.body;
    parts = rule.parts;
  }
  if (type.empty()) {
    types.clear();
    for (const char *part : parts)
      types.push_back(part[0] == '=' ? types[0] : anyType(part));
  }
  std::string parameters;
  for (char side : {'0', '1'})
    for (size_t n = 0; n < parts.size(); ++n)
      parameters +=
          (parameters.empty() ? "" : ", ") + std::string(1, static_cast<char>('a' + n)) + side;
  Node declaration = expression("fn " + name + "(" + parameters + ") = " + body, name);
  declaration.kind = Node::Kind::Statement;
  program.declarations.push_back(declaration);
  return name;
}

/// What a state begins with: a literal, or a value without the axis.
Node Generator::beginning(const std::string &type, const Axes &allowed, const std::string &over) {
  if (random.chance(60))
    return expression(literal(random, type), type);
  Axes rest = someOf(allowed, 60);
  rest.erase(over);
  return leaf(type, rest);
}

//===-- Expressions -------------------------------------------------------===//

bool Generator::isFree(const Axis &axis) const {
  return !axis.isBlock && !axis.isRestricted && tiedTo(axis.name).empty();
}

/// The whole axes along which something may run whose result has only allowed axes.
std::vector<std::string> Generator::axesAlong(const Axes &allowed, bool keepsAxis) {
  std::vector<std::string> result;
  for (const Axis &axis : axes) {
    bool fits = !axis.isBlock && (allowed.contains(axis.name) || !keepsAxis);
    for (const std::string &partner : tiedTo(axis.name))
      fits &= allowed.contains(partner);
    Axes all = allowed;
    all.insert(axis.name);
    if (fits && volume(all) <= 6000)
      result.push_back(axis.name);
  }
  return result;
}

/// A scan, an order or a change of shape as one value.
Node Generator::along(const std::string &type, const Axes &allowed, int depth) {
  bool keepsAxis = random.chance(70);
  std::vector<std::string> possible = axesAlong(allowed, keepsAxis);
  if (possible.empty())
    return elementwise(type, allowed, depth);
  std::string over = random.pick(possible);
  Axes some = someOf(allowed, 70);
  for (const std::string &partner : tiedTo(over))
    some.insert(partner);
  auto along = [&](const std::string &text, const std::string &operand) {
    return expression(text, type, {reducible(operand, some, {over}, depth - 1)});
  };
  if (!keepsAxis) {
    std::vector<std::string> types;
    std::string function = combiner(types, type);
    Node init = beginning(type, some, over);
    Node node = along("reduce(" + function + ", $0, " + over + ", init = $1)", type);
    node.axes.insert(init.axes.begin(), init.axes.end());
    node.axes.erase(over);
    node.children.push_back(std::move(init));
    return node;
  }
  std::string reverse = random.chance(40) ? ", reverse = true)" : ")";
  std::string descending = random.chance(40) ? ", descending = true)" : ")";
  bool isNumber = type != "bool" && !type.starts_with("f8");
  size_t die = random.below(100);
  if (type == "i64" && die < 40)
    return along("argsort($0, " + over + descending, anyType("num"));
  if (isNumber && type == accumulatorOf(type) && die < 45) {
    std::vector<std::string> all = typesOf("num"), fitting;
    for (const std::string &candidate : all)
      if (accumulatorOf(candidate) == type)
        fitting.push_back(candidate);
    return along((random.chance(70) ? "cumsum($0, " : "cumprod($0, ") + over + reverse,
                 random.pick(fitting));
  }
  if (isNumber && die < 60)
    return along((random.chance(50) ? "cummax($0, " : "cummin($0, ") + over + reverse, type);
  if (isFree(axis(over)) && die < 80)
    return along("flip($0, " + over + ")", type);
  if (isNumber)
    return along("sort($0, " + over + descending, type);
  return elementwise(type, allowed, depth);
}

//===-- Statements with several values ------------------------------------===//

bool Generator::letAlong(std::vector<Node> &lines) {
  Axes allowed = someOf(axesWhere([](const Axis &) { return true; }), 75);
  using Maker = bool (Generator::*)(std::vector<Node> &, const Axes &);
  static constexpr Maker makers[] = {&Generator::letScan,    &Generator::letScan,
                                     &Generator::letTop,     &Generator::letJoin,
                                     &Generator::letReshape, &Generator::letOrder};
  return (this->*makers[random.below(std::size(makers))])(lines, allowed);
}

/// Names for the values of one statement; `_` for some of them.
std::string Generator::nameAll(const std::vector<Name> &values) {
  std::vector<std::string> list;
  for (const Name &value : values) {
    bool isWanted = random.chance(85);
    list.push_back(isWanted ? value.name : "_");
    if (isWanted)
      names.push_back(value);
  }
  return joined(list);
}

/// A scan with its last state, or a reduction, of several values.
bool Generator::letScan(std::vector<Node> &lines, const Axes &allowed) {
  std::vector<std::string> possible = axesAlong(allowed, /*keepsAxis=*/false), types;
  if (possible.empty())
    return false;
  std::string over = random.pick(possible), function = combiner(types, "");
  Axes some = allowed, its;
  some.erase(over);
  Node made = statement("", {});
  std::vector<std::string> elements, inits;
  for (const std::string &type : types) {
    Node element = reducible(type, some, {over}, types.size() > 2 ? 0 : 1);
    its.insert(element.axes.begin(), element.axes.end());
    elements.push_back("$" + std::to_string(made.children.size()));
    made.children.push_back(std::move(element));
    Node init = beginning(type, some, over);
    its.insert(init.axes.begin(), init.axes.end());
    inits.push_back("$" + std::to_string(made.children.size()));
    made.children.push_back(std::move(init));
  }
  bool isScan = random.chance(70);
  std::vector<Name> values;
  for (const std::string &type : types)
    if (isScan)
      values.push_back({fresh("t"), type, its, false});
  its.erase(over);
  for (const std::string &type : types)
    values.push_back({fresh("t"), type, its, false});
  std::string call = (isScan ? "scan(" : "reduce(") + function + ", " + joined(elements) + ", " +
                     over + ", init = " + joined(inits) +
                     (isScan && random.chance(40) ? ", reverse = true)" : ")");
  made.text = "let " + nameAll(values) + " = " + call;
  lines.push_back(std::move(made));
  return true;
}

/// A whole axis of its own.
std::string Generator::newAxis(std::vector<Node> &lines, const std::string &extent,
                               int64_t length) {
  std::string name = fresh("w");
  bool isNumber = extent.find_first_not_of("0123456789") == std::string::npos;
  lines.push_back(
      statement("let " + name + (isNumber ? " = range(" : " = whole(") + extent + ")", {}));
  axes.push_back({.name = name, .index = name, .extent = extent, .length = length});
  return name;
}

/// The first elements in order, and where they stood.
bool Generator::letTop(std::vector<Node> &lines, const Axes &allowed) {
  std::vector<std::string> possible = axesAlong(allowed, /*keepsAxis=*/false);
  if (possible.empty())
    return false;
  std::string over = random.pick(possible), type = anyType("num");
  int64_t count = random.between(1, 6);
  Node operand = reducible(type, allowed, {over}, 1);
  std::string rank = newAxis(lines, std::to_string(count), count);
  Axes its = operand.axes;
  its.erase(over);
  its.insert(rank);
  std::string call =
      "topk($0, " + rank + ", " + over + (random.chance(50) ? ", descending = false)" : ")");
  std::vector<Name> values = {{fresh("t"), type, its, false}, {fresh("t"), "i64", its, false}};
  lines.push_back(statement("let " + nameAll(values) + " = " + call, {std::move(operand)}));
  return true;
}

/// Where the elements in order stood.
bool Generator::letOrder(std::vector<Node> &lines, const Axes &allowed) {
  std::vector<std::string> possible = axesAlong(allowed, /*keepsAxis=*/false);
  if (possible.empty())
    return false;
  std::string over = random.pick(possible), name = fresh("t");
  Node operand = reducible(anyType("num"), allowed, {over}, 1);
  Axes its = operand.axes;
  lines.push_back(statement("let " + name + " = argsort($0, " + over +
                                (random.chance(40) ? ", descending = true)" : ")"),
                            {std::move(operand)}));
  names.push_back({name, "i64", its, false});
  return true;
}

/// Several values on one axis, or the values on an axis by themselves.
bool Generator::letJoin(std::vector<Node> &lines, const Axes &allowed) {
  int64_t count = random.between(1, 3);
  std::string type = anyType("any");
  Axes some = allowed;
  while (volume(some) * count > 4000)
    some.erase(some.begin());
  std::string along = newAxis(lines, std::to_string(count), count);
  std::vector<std::string> parts;
  std::vector<Name> values;
  if (random.chance(50)) {
    Node made = reducible(type, some, {along}, 1);
    Axes its = made.axes;
    its.erase(along);
    for (int64_t n = 0; n < count; ++n)
      values.push_back({fresh("t"), type, its, false});
    lines.push_back(
        statement("let " + nameAll(values) + " = split($0, " + along + ")", {std::move(made)}));
    return true;
  }
  Node made = statement("", {});
  Axes its = {along};
  for (int64_t n = 0; n < count; ++n) {
    parts.push_back("$" + std::to_string(n));
    made.children.push_back(withAxes(value(type, some, 1), n == 0 ? someOf(some, 30) : Axes()));
    its.insert(made.children.back().axes.begin(), made.children.back().axes.end());
  }
  std::string name = fresh("t");
  made.text = "let " + name + " = join(" + joined(parts) + ", " + along + ")";
  lines.push_back(std::move(made));
  names.push_back({name, type, its, false});
  return true;
}

/// Two axes as one or one as two: in row-major order, or one after the other.
bool Generator::letReshape(std::vector<Node> &lines, const Axes &allowed) {
  std::vector<Axis> free;
  for (const Axis &axis : axes)
    if (isFree(axis))
      free.push_back(axis);
  if (free.empty())
    return false;
  Axis a = random.pick(free), b = random.pick(free);
  std::string type = anyType("any"), name = fresh("t");
  Axes some = allowed;
  some.erase(a.name);
  some.erase(b.name);
  int64_t sum = a.length + b.length, product = a.length * b.length;
  bool isConcat = a.name == b.name || random.chance(50);
  while (!some.empty() && volume(some) * std::max(sum, product) > 4000)
    some.erase(some.begin());
  if (std::max(sum, product) > 4000)
    return false;
  auto isNumber = [](const std::string &text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
  };
  auto with = [&](const char *op, int64_t value) {
    return isNumber(a.extent) && isNumber(b.extent)
               ? std::to_string(value)
               : "(" + a.extent + ")" + op + "(" + b.extent + ")";
  };
  Node made;
  std::string axis = isConcat ? newAxis(lines, with(" + ", sum), sum)
                              : newAxis(lines, with(" * ", product), product);
  if (isConcat) {
    Node first = reducible(type, some, {a.name}, 1), second = reducible(type, some, {b.name}, 1);
    std::string pair = "($0, $1), (" + a.name + ", " + b.name + "), " + axis + ")";
    first.axes.erase(a.name);
    second.axes.erase(b.name);
    made = expression("concat(" + pair, type, {std::move(first), std::move(second)});
    made.axes.insert(axis);
  } else if (random.chance(50)) {
    made = expression("reshape($0, (" + a.name + ", " + b.name + "), " + axis + ")", type,
                      {reducible(type, some, {a.name, b.name}, 1)});
    made.axes.erase(a.name);
    made.axes.erase(b.name);
    made.axes.insert(axis);
  } else {
    made = expression("reshape($0, " + axis + ", (" + a.name + ", " + b.name + "))", type,
                      {reducible(type, some, {axis}, 1)});
    made.axes.erase(axis);
    made.axes.insert(a.name);
    made.axes.insert(b.name);
  }
  Axes its = made.axes;
  lines.push_back(statement("let " + name + " = $0", {std::move(made)}));
  names.push_back({name, type, its, false});
  return true;
}

//===-- Loops -------------------------------------------------------------===//

/// A scan that goes on from block to block; the states may be stored.
void Generator::scanLoop(std::vector<Node> &lines, int) {
  Axes outer = axesWhere([](const Axis &axis) { return axis.isParallel; });
  bool stores = random.chance(70);
  std::string type = anyType("num bool"), name = fresh("k");
  Name state{fresh("v"), type, outer, true};
  std::string list;
  for (const std::string &a : outer)
    list += ", " + a;
  std::string number = type == "bool" ? "false" : random.chance(60) ? "0" : "1";
  if (outer.empty())
    number = type == "bool" ? number : type + "(" + number + ")";
  lines.push_back(
      statement("var " + state.name + " = " +
                    (outer.empty() ? number : "full(" + type + ", " + number + list + ")"),
                {}));
  auto &[extent, length] = random.pick(extents);
  Scope outside = scope();
  axes.push_back({.name = name, .index = name, .extent = extent, .length = length});
  axes.back().isBlock = true;
  std::string head = "for " + name + " in tiles(" + extent + ")";
  if (!stores && random.chance(40))
    head += " if " + condition(name, outer, axes.back().partners);
  bool isCumulative = type != "bool" && accumulatorOf(type) == type && random.chance(40);
  std::vector<std::string> types;
  std::string function = isCumulative ? (random.chance(60) ? "cumsum($0, " : "cumprod($0, ")
                                      : "scan(" + combiner(types, type) + ", $0, ";
  std::vector<Node> body;
  std::string tile = fresh("t"), last = fresh("t");
  body.push_back(statement("let (" + (stores ? tile : "_") + ", " + last + ") = " + function +
                               name + ", init = " + state.name + ")",
                           {reducible(type, outer, {name}, 2)}));
  if (stores) {
    Axes all = outer;
    all.insert(name);
    names.push_back({tile, type, all, false});
    storeInto(body, random.chance(70) ? type : anyType("any half"), {{extent, name}},
              [&](const std::string &stored) { return value(stored, all, 1); });
  }
  body.push_back(statement(state.name + " = " + last, {}));
  lines.push_back(statement(head + " {$0}", {block(std::move(body))}));
  leave(outside);
  names.push_back(state);
}
