#include "tests/fuzz/graphs/GraphGenerator.h"

#include <algorithm>
#include <sstream>

using namespace tile::fuzz;

std::string GraphGenerator::number(const std::string &type) {
  if (isRough())
    return literal(random, type);
  if (type == "bool")
    return random.chance(50) ? "true" : "false";
  static const std::vector<std::string> integers = {"0", "1", "2", "3"};
  static const std::vector<std::string> fractions = {"0.5", "1.25", "2.0", "0.1"};
  bool isFraction = isSmooth() && isFloatType(type);
  return type + "(" + random.pick(isFraction ? fractions : integers) + ")";
}

Leaf GraphGenerator::cast(Leaf leaf, const std::string &type) {
  if (leaf.type == type)
    return leaf;
  Leaf result{type + "(" + leaf.text + ")", type, leaf.limit};
  if (type == "bool")
    result.text = "(" + leaf.text + " > 0)";
  if (leaf.type == "bool" || type == "bool")
    result.limit = 1;
  else if (isExact() && isFloatType(type) && !isFloatType(leaf.type))
    result = {type + "(" + leaf.text + " % 16)", type, 16};
  return result;
}

Leaf GraphGenerator::wrapped(Leaf leaf) {
  // Integers have no limit; halves are computed in f32.
  if (!isExact() || !isFloatType(leaf.type) || leaf.limit < 200)
    return leaf;
  leaf.text = "(" + leaf.text + " - 16 * floor(" + leaf.text + " / 16))";
  leaf.limit = 16;
  return leaf;
}

Leaf GraphGenerator::exactly(const std::string &type, const Leaf &a, const Leaf &b) {
  auto text = [&](const char *form) { return fill(form, {{"0", a.text}, {"1", b.text}}); };
  double most = std::max(a.limit, b.limit);
  if (type == "bool") {
    static const std::vector<const char *> forms = {"($0 && $1)", "($0 || $1)", "(!$0)",
                                                    "($0 == $1)"};
    return {text(random.pick(forms)), type, 1};
  }
  switch (random.below(9)) {
  case 0:
  case 1:
    return {text("($0 + $1)"), type, a.limit + b.limit};
  case 2:
    return {text("($0 - $1)"), type, a.limit + b.limit};
  case 3:
    if (a.limit * b.limit < 1 << 12)
      return {text("($0 * $1)"), type, a.limit * b.limit};
    [[fallthrough]];
  case 4:
    return {text("max($0, $1)"), type, most};
  case 5:
    return {text("min($0, $1)"), type, most};
  case 6:
    return {text("abs($0)"), type, a.limit};
  case 7:
    return {text("where($0 > $1, $1, $0)"), type, most};
  default:
    return {text("($0 + 1)"), type, a.limit + 1};
  }
}

Leaf GraphGenerator::smoothly(const std::string &type, const Leaf &a, const Leaf &b) {
  static const std::vector<const char *> forms = {
      "($0 + $1)",     "($0 - $1)",   "tanh($0 * $1)",   "max($0, $1)",
      "sin($0 + $1)",  "sigmoid($0)", "($0 * 0.5 + $1)", "tanh($0 - $1 * 2)",
      "abs($0)",       "min($0, $1)", "exp(-abs($0))",   "($0 / (1 + abs($1)))",
      "cos($0 * 0.25)"};
  return {fill(random.pick(forms), {{"0", a.text}, {"1", b.text}}), type, 0};
}

Leaf GraphGenerator::combine(const std::string &type, std::vector<Leaf> &leaves, int depth) {
  if (depth <= 0 || random.chance(15)) {
    if (random.chance(12))
      return {number(type), type, 3};
    return cast(random.pick(leaves), type);
  }
  if (!isRough() || random.chance(20)) {
    Leaf a = wrapped(combine(type, leaves, depth - 1)),
         b = wrapped(combine(type, leaves, depth - 1));
    return isSmooth() && isFloatType(type) ? smoothly(type, a, b) : exactly(type, a, b);
  }
  // A rule of the random kernels.
  auto fits = [](const std::string &classes, const std::string &wanted) {
    std::vector<std::string> types = typesOf(classes);
    return std::find(types.begin(), types.end(), wanted) != types.end();
  };
  for (int tries = 0; tries < 20; ++tries) {
    const ElementwiseRule &rule = random.pick(elementwiseRules);
    if (!fits(rule.results, type) || static_cast<int>(random.below(14)) >= rule.weight)
      continue;
    std::string other = type;
    if (*rule.others) {
      std::vector<std::string> types = typesOf(rule.others);
      other = random.pick(types);
    }
    std::vector<std::pair<std::string, std::string>> names = {{"T", type}};
    for (size_t n = 0; rule.operands[n]; ++n) {
      std::string of = rule.operands[n] == 'T' ? type : rule.operands[n] == 'B' ? "bool" : other;
      names.push_back({std::to_string(n), combine(of, leaves, depth - 1).text});
    }
    if (std::string(rule.text).starts_with("$T(") && other == type)
      continue; // a cast to the same
    return {fill(rule.text, names), type, 0};
  }
  return cast(random.pick(leaves), type);
}

Leaf GraphGenerator::expression(const std::string &type, std::vector<Leaf> leaves) {
  if (leaves.empty())
    return {number(type), type, 3};
  Leaf first = cast(leaves.front(), type);
  if (leaves.size() == 1 && random.chance(25))
    return wrapped(first);
  Leaf rest = wrapped(combine(type, leaves, static_cast<int>(random.between(0, 2))));
  first = wrapped(first);
  // Every leaf takes part, if only as what is chosen.
  for (size_t n = 1; n < leaves.size(); ++n)
    if (rest.text.find(leaves[n].text) == std::string::npos) {
      Leaf other = wrapped(cast(leaves[n], type));
      rest = isSmooth() && isFloatType(type)
                 ? Leaf{"(" + rest.text + " - " + other.text + ")", type, 0}
                 : wrapped(exactly(type, other, rest));
    }
  if (isSmooth() && isFloatType(type))
    return {"tanh(" + first.text + " + " + rest.text + ")", type, 0};
  Leaf value = exactly(type, first, rest);
  if (value.text.find(first.text) == std::string::npos)
    value = type == "bool" ? Leaf{"(" + first.text + " != " + value.text + ")", type, 1}
                           : Leaf{"(" + first.text + " - " + value.text + ")", type,
                                  first.limit + value.limit};
  return wrapped(value);
}
