#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

/// No tile and no tensor has more elements.
static constexpr int64_t maxVolume = 6000;

//===-- Small pieces ------------------------------------------------------===//

void Generator::leave(const Scope &scope) {
  axes.resize(scope.axes);
  counters.resize(scope.counters);
  names.resize(scope.names);
}

std::string Generator::fresh(const std::string &prefix) {
  // `f16` is a type.
  do
    ++serial;
  while (prefix == "f" && (serial == 16 || serial == 32 || serial == 64));
  return prefix + std::to_string(serial);
}

std::string Generator::anyType(const std::string &classes) {
  std::vector<std::string> types = typesOf(classes);
  return random.pick(types);
}

Node Generator::expression(std::string text, std::string type, std::vector<Node> children) {
  Node node;
  node.text = std::move(text);
  node.type = std::move(type);
  for (const Node &child : children)
    node.axes.insert(child.axes.begin(), child.axes.end());
  node.children = std::move(children);
  return node;
}

const Generator::Axis &Generator::axis(const std::string &name) const {
  return *std::find_if(axes.begin(), axes.end(), [&](const Axis &a) { return a.name == name; });
}

int64_t Generator::volume(const Axes &wanted) const {
  int64_t result = 1;
  for (const std::string &name : wanted)
    result *= std::max<int64_t>(1, axis(name).length);
  return result;
}

Generator::Axes Generator::someOf(const Axes &all, int percent) {
  Axes result;
  for (const std::string &name : all)
    if (random.chance(percent)) {
      result.insert(name);
      if (volume(result) > maxVolume)
        result.erase(name);
    }
  return result;
}

Generator::Axes Generator::tiedTo(const std::string &name) const {
  Axes result = axis(name).partners;
  for (const Axis &other : axes)
    if (other.partners.contains(name))
      result.insert(other.name);
  return result;
}

Generator::Axes Generator::axesWhere(bool (*wanted)(const Axis &)) {
  Axes result;
  for (const Axis &axis : axes)
    if (wanted(axis))
      result.insert(axis.name);
  return result;
}

//===-- Operations --------------------------------------------------------===//

Node Generator::value(const std::string &type, const Axes &allowed, int depth) {
  if (depth <= 0)
    return leaf(type, allowed);
  size_t die = random.below(100);
  if (die < 14)
    return leaf(type, allowed);
  if (die < 30)
    return reduction(type, allowed, depth);
  if (die < 35)
    return call(type, allowed, depth);
  if (die < 42)
    return along(type, allowed, depth);
  return elementwise(type, allowed, depth);
}

Node Generator::elementwise(const std::string &type, const Axes &allowed, int depth) {
  std::vector<const ElementwiseRule *> fitting;
  for (const ElementwiseRule &rule : elementwiseRules) {
    std::string results = rule.results;
    bool gives = results == "any" || results == type || (results == "bool" && type == "bool") ||
                 (results == "float" && isFloatType(type)) ||
                 (results == "int" && !isFloatType(type) && type != "bool") ||
                 (results == "num" && type != "bool");
    for (int n = 0; gives && n < rule.weight; ++n)
      fitting.push_back(&rule);
  }
  const ElementwiseRule &rule = *random.pick(fitting);
  std::string other = *rule.others ? anyType(rule.others) : "", text = rule.text;
  for (size_t at; (at = text.find("$T")) != std::string::npos;)
    text.replace(at, 2, type);
  std::vector<Node> operands;
  for (const char *operand = rule.operands; *operand; ++operand) {
    int less = depth - 1 - static_cast<int>(random.below(2));
    if (*operand == 'B') // rather a comparison than a tensor of bools
      operands.push_back(random.chance(70) ? elementwise("bool", allowed, std::max(less, 1))
                                           : value("bool", allowed, less));
    else
      operands.push_back(value(*operand == 'T' ? type : other, allowed, less));
  }
  return expression(text, type, std::move(operands));
}

Node Generator::withAxes(Node node, const Axes &wanted) {
  Axes missing;
  for (const std::string &name : wanted)
    if (!node.axes.contains(name))
      missing.insert(name);
  if (missing.empty())
    return node;
  std::string type = node.type;
  const char *text = type == "bool"      ? (random.chance(50) ? "($0 && $1)" : "($0 || $1)")
                     : random.chance(60) ? "($0 + $1)"
                                         : (random.chance(50) ? "($0 * $1)" : "max($0, $1)");
  Node other = load(type, missing);
  return expression(text, type, {std::move(node), std::move(other)});
}

Node Generator::reducible(const std::string &type, const Axes &allowed, const Axes &over,
                          int depth) {
  Axes all = allowed, wanted = over;
  all.insert(over.begin(), over.end());
  for (const std::string &name : over)
    for (const std::string &partner : tiedTo(name))
      if (all.contains(partner))
        wanted.insert(partner);
  return withAxes(value(type, all, depth), wanted);
}

Node Generator::reduction(const std::string &type, const Axes &allowed, int depth) {
  // Over whole axes that aren't wanted in the result.
  Axes wholes = axesWhere([](const Axis &axis) { return !axis.isBlock; }), over;
  for (const std::string &name : wholes) {
    // What a condition ties to it has to be there.
    bool isFree = true;
    for (const std::string &partner : tiedTo(name))
      isFree &= allowed.contains(partner);
    if (isFree && (!allowed.contains(name) || random.chance(30)))
      over.insert(name);
  }
  if (over.empty())
    return elementwise(type, allowed, depth);
  while (over.size() > 1 && (random.chance(60) || volume(over) > maxVolume))
    over.erase(std::next(over.begin(), static_cast<int64_t>(random.below(over.size()))));
  Axes rest, tied;
  for (const std::string &name : over)
    tied.merge(tiedTo(name));
  for (const std::string &name : allowed)
    if (!over.contains(name) && (tied.contains(name) || random.chance(75))) {
      rest.insert(name);
      Axes all = rest;
      all.insert(over.begin(), over.end());
      if (volume(all) > maxVolume)
        rest.erase(name);
    }
  if (over.size() == 1 && random.chance(30) && (type == accumulatorOf(type) && type != "bool"))
    return dot(type, rest, *over.begin(), depth - 1);

  std::vector<std::pair<const ReductionRule *, std::string>> fitting;
  for (const ReductionRule &rule : reductionRules)
    for (const std::string &operand : typesOf(rule.operands)) {
      bool gives = rule.result == ReductionRule::Accumulator ? accumulatorOf(operand) == type
                   : rule.result == ReductionRule::Same      ? operand == type
                   : rule.result == ReductionRule::Bool      ? type == "bool"
                                                             : type == "i64" && over.size() == 1;
      for (int n = 0; gives && n < rule.weight; ++n)
        fitting.push_back({&rule, operand});
    }
  if (fitting.empty())
    return elementwise(type, allowed, depth);
  auto [rule, operand] = random.pick(fitting);
  Node inner = reducible(operand, rest, over, depth - 1);
  std::string text = std::string(rule->name) + "($0";
  for (const std::string &name : over)
    text += ", " + name;
  Node node = expression(text + ")", type, {std::move(inner)});
  for (const std::string &name : over)
    node.axes.erase(name);
  return node;
}

Node Generator::dot(const std::string &type, const Axes &allowed, const std::string &over,
                    int depth) {
  std::string operand = type;
  if (random.chance(40)) {
    std::vector<std::string> all = typesOf("any"), fitting;
    for (const std::string &candidate : all)
      if (candidate != "bool" && accumulatorOf(candidate) == type)
        fitting.push_back(candidate);
    operand = random.pick(fitting);
  }
  auto some = [&] {
    Axes result = someOf(allowed, 70);
    for (const std::string &partner : tiedTo(over))
      if (allowed.contains(partner))
        result.insert(partner);
    return result;
  };
  Node left = reducible(operand, some(), {over}, depth - 1);
  Node right = reducible(operand, some(), {over}, depth - 1);
  std::string precision;
  if (type == "f32" && random.chance(25))
    precision = random.chance(60) ? ", precision = tf32" : ", precision = tf32x3";
  Node node = expression("dot($0, $1, " + over + precision + ")", type,
                         {std::move(left), std::move(right)});
  node.axes.erase(over);
  return node;
}

std::pair<Node, std::string> Generator::partial(const std::string &type, const Axes &allowed,
                                                const Axes &over, int depth) {
  std::vector<std::pair<const ReductionRule *, std::string>> fitting;
  for (const ReductionRule &rule : reductionRules) {
    if (!rule.fold)
      continue;
    for (const std::string &operand : typesOf(rule.operands)) {
      bool gives =
          rule.result == ReductionRule::Accumulator
              ? accumulatorOf(operand) == type
              : (rule.result == ReductionRule::Bool) == (type == "bool") && operand == type;
      for (int n = 0; gives && n < rule.weight; ++n)
        fitting.push_back({&rule, operand});
    }
  }
  if (fitting.empty() ||
      (over.size() == 1 && type != "bool" && random.chance(20) && accumulatorOf(type) == type)) {
    Node node = dot(type, allowed, *over.begin(), depth);
    return {std::move(node), "+="};
  }
  auto [rule, operand] = random.pick(fitting);
  Node inner = reducible(operand, allowed, over, depth);
  std::string text = std::string(rule->name) + "($0";
  for (const std::string &name : over)
    text += ", " + name;
  Node node = expression(text + ")", type, {std::move(inner)});
  for (const std::string &name : over)
    node.axes.erase(name);
  std::string fold = rule->fold;
  if (fold == "+=") {
    // Linear in the partial sum.
    if (random.chance(15))
      node = expression("(-$0)", type, {node});
    if (random.chance(15))
      node = expression("($0 * $1)", type, {node, leaf(type, allowed)});
  }
  return {std::move(node), fold};
}

/// A call of a map or fn of its own.
Node Generator::call(const std::string &type, const Axes &allowed, int depth) {
  if (random.chance(35) && type != "bool") {
    Axes wholes = axesWhere([](const Axis &axis) { return !axis.isBlock; });
    std::erase_if(wholes, [&](const std::string &name) { return !tiedTo(name).empty(); });
    if (!wholes.empty() && accumulatorOf(type) == type) {
      std::vector<std::string> list(wholes.begin(), wholes.end());
      std::string over = random.pick(list), name = fresh("f");
      static const std::vector<std::string> bodies = {"sum(t * t, a)", "max(t, a) - min(t, a)",
                                                      "sum(where(t > 0, t, 0), a)",
                                                      "dot(t, t, a) + max(t, a)"};
      Node declaration = expression("fn " + name + "(t, axis a) = " + random.pick(bodies), name);
      declaration.kind = Node::Kind::Statement;
      program.declarations.push_back(declaration);
      Node inner = reducible(type, someOf(allowed, 60), {over}, depth - 1);
      Node node = expression(name + "($0, " + over + ")", type, {std::move(inner)});
      node.axes.erase(over);
      return node;
    }
  }
  std::string p = anyType("any"), q = random.chance(50) ? type : anyType("any");
  std::vector<Node> arguments = {value(p, allowed, depth - 1), value(q, allowed, depth - 1)};
  std::string made = elementwiseMap(p, q, type);
  return made.empty() ? elementwise(type, allowed, depth)
                      : expression(made + "($0, $1)", type, std::move(arguments));
}

/// The name of a map of its own; none if its body would need more than its parameters.
std::string Generator::elementwiseMap(const std::string &p, const std::string &q,
                                      const std::string &type) {
  std::string name = fresh("f");
  std::vector<Axis> hiddenAxes;
  std::vector<Counter> hiddenCounters;
  std::vector<Name> hiddenNames;
  std::vector<Parameter> parameters = program.parameters;
  std::swap(axes, hiddenAxes);
  std::swap(counters, hiddenCounters);
  names.swap(hiddenNames);
  names = {{"p", p, {}, false}, {"q", q, {}, false}};
  Node body = value(type, {}, 2);
  std::swap(axes, hiddenAxes);
  std::swap(counters, hiddenCounters);
  names.swap(hiddenNames);
  bool isPure = program.parameters.size() == parameters.size() &&
                body.str().find("x") == std::string::npos && body.str().find("s") != 0;
  if (!isPure) {
    program.parameters = parameters;
    return "";
  }
  Node declaration = expression("map " + name + "(p: " + p + ", q: " + q + ") -> " + type + " = $0",
                                name, {std::move(body)});
  declaration.kind = Node::Kind::Statement;
  program.declarations.push_back(declaration);
  return name;
}

//===-- Conditions --------------------------------------------------------===//

/// What may stand behind a binder's `if`, with the axes it ties to the binder.
std::string Generator::condition(const std::string &binder, const Axes &others, Axes &partners) {
  std::vector<std::string> named;
  for (const std::string &name : others)
    if (axis(name).index != ":")
      named.push_back(name);
  std::string c = std::to_string(random.between(0, 4));
  static const std::vector<std::string> comparisons = {"<=", "<", ">=", ">", "=="};
  std::string comparison = comparisons[random.below(random.chance(10) ? 5 : 4)];
  std::string text;
  if (!named.empty() && random.chance(70)) {
    const std::string &other = random.pick(named);
    partners.insert(other);
    static const std::vector<std::string> forms = {"% C @",         "% + K C @", "% C @ - K",
                                                   "2 * % C @ + K", "% - @ C K", "% / 2 C @"};
    text = random.pick(forms);
    for (size_t at; (at = text.find('@')) != std::string::npos;)
      text.replace(at, 1, other);
  } else {
    static const std::vector<std::string> forms = {"% C K", "2 * % C K + 3", "% + K C 5"};
    text = random.pick(forms);
  }
  auto replace = [&](char mark, const std::string &with) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, 1, with);
  };
  replace('C', comparison);
  replace('K', c);
  replace('%', binder);
  if (random.chance(15)) {
    Parameter flag;
    flag.name = fresh("s");
    flag.type = random.chance(50) ? "bool" : "i32";
    flag.isScalar = true;
    program.parameters.push_back(flag);
    std::string test = flag.type == "bool" ? flag.name : flag.name + " > 0";
    text = random.chance(60) ? test + " || " + text : test + " && " + text;
  }
  return text;
}
