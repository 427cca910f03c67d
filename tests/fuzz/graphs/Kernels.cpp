#include "tests/fuzz/graphs/KernelMaker.h"

#include <algorithm>

using namespace tile::fuzz;

//===-- Values ------------------------------------------------------------===//

static std::string sumType(const std::string &type) {
  return type == "bool" ? "i32" : accumulatorOf(type);
}

namespace {
struct Reduction {
  const char *name, *fold, *beginning;
  std::string type;
};
} // namespace

static std::vector<Reduction> reductionsOf(const std::string &type, bool isRough, bool isSmooth,
                                           bool mayBePartial) {
  if (type == "bool")
    return {{"any", "|=", "false", type}, {"all", "&=", "true", type}, {"sum", "+=", "0", "i32"}};
  std::vector<Reduction> list = {
      {"sum", "+=", "0", sumType(type)}, {"max", "max=", "0", type}, {"min", "min=", "0", type}};
  bool isFloat = isFloatType(type);
  if (!isFloat)
    list.push_back({"xor", "^=", "0", type});
  if (!mayBePartial && !isSmooth)
    list.push_back({"argmax", "", "", "i64"});
  if (!mayBePartial && isFloat && (isRough || isSmooth))
    list.push_back({"mean", "", "", sumType(type)});
  if (isRough)
    list.push_back({"prod", "*=", "1", sumType(type)});
  return list;
}

/// A condition of a binder `$k` that ties it to another axis, or a bound of its own.
std::string KernelMaker::condition(const std::string &binder) {
  std::vector<std::string> blocks;
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Block || axis.kind == Axis::Kind::Each)
      blocks.push_back(axis.name);
  if (blocks.empty() || random.chance(20))
    return binder + " < 5";
  static const std::vector<std::string> forms = {"$k <= $i", "$k > $i", "$k >= $i - 2",
                                                 "$k <= $i && $k > $i - 4", "2 * $k < $i + 3"};
  return fill(random.pick(forms), {{"k", binder}, {"i", random.pick(blocks)}});
}

/// Over a whole axis: of a tensor's last dim.
Leaf KernelMaker::reduced(const GraphTensor &tensor) {
  Axis axis{Axis::Kind::Whole, fresh("r"), dimOf(tensor.shape.back())};
  bool isNumber = std::isdigit(static_cast<unsigned char>(axis.extent[0]));
  std::string bound = isNumber ? "range(" + axis.extent + ")" : "whole(" + axis.extent + ")";
  std::string when;
  if (random.chance(25))
    when = condition(axis.name);
  line("let " + axis.name + " = " + bound + (when.empty() ? "" : " if " + when));
  std::vector<Axis> over = axes;
  over.push_back(axis);
  Leaf value = g.expression(random.chance(70) ? tensor.type : g.anyType(), {access(tensor, over)});
  std::vector<std::string> needed = {axis.name};
  for (const Axis &other : axes)
    if (other.isSpan() && when.find(other.name) != std::string::npos)
      needed.push_back(other.name);
  value = along(value, needed);
  std::vector<Reduction> list = reductionsOf(value.type, g.isRough(), g.isSmooth(), false);
  const Reduction &reduction = random.pick(list);
  Leaf result{std::string(reduction.name) + "(" + value.text + ", " + axis.name + ")",
              reduction.type, value.limit};
  if (std::string(reduction.name) == "sum" || std::string(reduction.name) == "mean")
    result.limit *= static_cast<double>(std::max<int64_t>(1, g.valueOf(inGraph(axis.extent))));
  if (std::string(reduction.name) == "argmax")
    result.limit = 100;
  // Of nothing, extremes are infinite.
  bool isExtreme = std::string(reduction.name) == "max" || std::string(reduction.name) == "min";
  if (isExtreme && isFloatType(result.type) && !g.isRough())
    result.text = "clamp(" + result.text + ", -9000, 9000)", result.limit = 9000;
  std::string name = fresh("s");
  line("let " + name + " = " + result.text);
  result.text = name;
  return result;
}

/// A fold over the blocks of a loop.
Leaf KernelMaker::folded(const GraphTensor &tensor) {
  Axis axis{Axis::Kind::Loop, fresh("k"), dimOf(tensor.shape.back())};
  loops.push_back(axis.name);
  std::string when;
  if (random.chance(30))
    when = condition(axis.name);
  std::vector<Axis> over = axes;
  over.push_back(axis);
  size_t before = body.size();
  Leaf value = g.expression(random.chance(70) ? tensor.type : g.anyType(), {access(tensor, over)});
  std::string said = body.substr(before);
  body.resize(before);
  std::vector<std::string> needed = {axis.name};
  for (const Axis &other : axes)
    if (other.isSpan() && when.find(other.name) != std::string::npos)
      needed.push_back(other.name);
  value = along(value, needed);
  std::vector<Reduction> list = reductionsOf(value.type, g.isRough(), g.isSmooth(), true);
  const Reduction &reduction = random.pick(list);
  std::string name = fresh("v");
  line("var " + name + " = " + zeros(reduction.type, reduction.beginning));
  line("for " + axis.name + " in tiles(" + axis.extent + ")" + (when.empty() ? "" : " if " + when) +
       " {");
  body += said;
  line("    " + name + " " + reduction.fold + " " + reduction.name + "(" + value.text + ", " +
       axis.name + ")");
  line("}");
  double terms = static_cast<double>(std::max<int64_t>(1, g.valueOf(inGraph(axis.extent))));
  return {name, reduction.type, std::max(1.0, value.limit * terms)};
}

/// A loop over integers: windows and recurrences.
Leaf KernelMaker::counted(const GraphTensor &tensor) {
  Axis axis{Axis::Kind::Counter, fresh("n"), "3"};
  std::string type = random.chance(70) ? tensor.type : g.anyType(), name = fresh("v");
  line("var " + name + " = " + zeros(type, type == "bool" ? "false" : "0"));
  std::vector<Axis> over = axes;
  over.push_back(axis);
  bool isLong = random.chance(20);
  Leaf step = g.cast(access(tensor, over), type);
  if (random.chance(40)) {
    std::vector<Leaf> more = leaves(over, 1);
    more.insert(more.begin(), step);
    step = g.expression(type, more);
  }
  line("for " + axis.name + " in " + (isLong ? "0.." + dimOf(tensor.shape.front()) : "0..3") +
       (random.chance(20) ? " step -1" : "") + " {");
  double limit = step.limit * 3;
  std::string combined = name + " + " + step.text;
  if (type == "bool") {
    combined = name + " != " + step.text;
  } else if (isLong || random.chance(30)) {
    combined = "max(" + name + ", " + step.text + ")";
    limit = step.limit;
  } else if (g.isSmooth() && isFloatType(type)) {
    combined = "tanh(" + name + " * 0.5 + " + step.text + ")";
  }
  line("    " + name + " = " + combined);
  line("}");
  return {name, type, limit};
}

Leaf KernelMaker::branched() {
  std::string type = g.anyType(), name = fresh("v"), when;
  std::vector<std::string> each;
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Each)
      each.push_back(axis.name);
  if (!each.empty() && random.chance(70))
    when = random.pick(each) + " % 3 != 1";
  else if (!extents.empty() && random.chance(50))
    when = std::string(names[random.below(extents.size())]) + " > 4";
  else
    when = access(g.tensorOf("i32", {"1"}), {}).text + " > 0";
  line("var " + name + " = " + zeros(type, type == "bool" ? "false" : "0"));
  Leaf first = g.expression(type, leaves(axes, 1)), second = g.expression(type, leaves(axes, 1));
  line("if " + when + " {");
  line("    " + name + " = " + first.text);
  if (random.chance(60)) {
    line("} else {");
    line("    " + name + " = " + second.text);
  }
  line("}");
  return {name, type, std::max(first.limit, second.limit)};
}

/// What stays on a whole axis of the output: scans, orders, and the row's reductions.
Leaf KernelMaker::alongWhole(Leaf leaf, const Axis &axis) {
  leaf = along(leaf, {axis.name});
  double terms = static_cast<double>(std::max<int64_t>(1, g.valueOf(inGraph(axis.extent))));
  auto call = [&](const char *form) { return fill(form, {{"0", leaf.text}, {"a", axis.name}}); };
  bool isNumber = leaf.type != "bool", isFloat = isFloatType(leaf.type);
  switch (random.below(9)) {
  case 0:
    if (isNumber)
      return {call("cumsum($0, $a)"), sumType(leaf.type), leaf.limit * terms};
    [[fallthrough]];
  case 1:
    if (isNumber)
      return {call("cummax($0, $a, reverse = true)"), leaf.type, leaf.limit};
    [[fallthrough]];
  case 2:
    return {call("flip($0, $a)"), leaf.type, leaf.limit};
  case 3:
    if (isNumber)
      return {call("sort($0, $a)"), leaf.type, leaf.limit};
    [[fallthrough]];
  case 4:
    if (isNumber && !g.isSmooth())
      return {call("argsort($0, $a, descending = true)"), "i64", 100};
    [[fallthrough]];
  default:
    if (!isNumber)
      return {call("sum($0, $a)"), "i32", 100};
    if (random.chance(60)) {
      // x - max(x), in the type of extremes
      Leaf most{call("($0 - max($0, $a))"), leaf.type, leaf.limit * 2};
      return most;
    }
    return {call("sum($0, $a)"), isFloat ? sumType(leaf.type) : sumType(leaf.type),
            leaf.limit * terms};
  }
}

void KernelMaker::store(const Leaf &value) {
  std::vector<Axis> order = axes;
  for (size_t n = order.size(); n > 1; --n)
    if (random.chance(20))
      std::swap(order[n - 1], order[random.below(n)]);
  std::string indices, shape;
  GraphTensor result{"", value.type, {}, {}, value.limit * 1.02};
  for (const Axis &axis : order) {
    indices += (indices.empty() ? "" : ", ") + axis.name;
    shape += (shape.empty() ? "" : ", ") + axis.extent;
    result.shape.push_back(inGraph(axis.extent));
  }
  std::string name = "y" + std::to_string(results.size());
  outputs += (outputs.empty() ? "" : ", ") + name + ": " + value.type + "[" + shape + "]";
  line(name + "[" + indices + "] = " + value.text);
  results.push_back(result);
}

std::string KernelMaker::schedule() {
  static const std::vector<int64_t> sizes = {1, 2, 3, 4, 5, 7, 8, 11, 16, 32};
  std::string text;
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Block && random.chance(45))
      text += (text.empty() ? "" : "; ") + axis.name + " = " + std::to_string(random.pick(sizes));
  for (const std::string &loop : loops)
    if (random.chance(60))
      text += (text.empty() ? "" : "; ") + loop + " = " + std::to_string(random.pick(sizes));
  return text.empty() ? "" : " schedule { " + text + " }";
}

bool KernelMaker::run() {
  GraphTensor main = g.tensorOfRank(random.between(1, 3));
  paramOf(main);
  for (const std::string &extent : main.shape)
    dimOf(extent);
  chooseAxes(main);
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Whole) {
      bool isNumber = std::isdigit(static_cast<unsigned char>(axis.extent[0]));
      line("let " + axis.name + (isNumber ? " = range(" : " = whole(") + axis.extent + ")");
    }
  std::vector<Leaf> values;
  if (random.chance(30))
    values.push_back(reduced(main));
  if (random.chance(18))
    values.push_back(folded(main));
  if (random.chance(12))
    values.push_back(counted(main));
  if (random.chance(7))
    values.push_back(branched());
  if (values.empty() || random.chance(50)) {
    std::vector<Leaf> more = leaves(axes, 1);
    values.insert(values.begin(), access(main, axes));
    values.insert(values.end(), more.begin(), more.end());
  }
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Whole && random.chance(55)) {
      Leaf row = alongWhole(g.wrapped(random.pick(values)), axis);
      std::string name = fresh("row");
      line("let " + name + " = " + row.text);
      row.text = name;
      values.push_back(row);
    }
  size_t count = random.chance(80) ? 1 : 2;
  for (size_t n = 0; n < count; ++n) {
    Leaf value = g.expression(random.chance(55) ? values.front().type : g.anyType(), values);
    std::string name = fresh("o");
    line("let " + name + " = " + value.text);
    value.text = name;
    store(value);
    values.insert(values.begin(), value);
  }
  if (body.size() > 3000 || extents.size() > std::size(names))
    return false;
  GraphCall call;
  std::string heads, parameters;
  for (const Axis &axis : axes)
    if (axis.kind == Axis::Kind::Block || axis.kind == Axis::Kind::Each)
      heads += (heads.empty() ? "" : ", ") + axis.name +
               (axis.kind == Axis::Kind::Each ? " in each(" : " in tiles(") + axis.extent + ")";
  for (const GraphTensor &param : params) {
    std::string shape;
    for (const std::string &extent : param.shape)
      shape += (shape.empty() ? "" : ", ") + dimOf(extent);
    parameters +=
        (parameters.empty() ? "" : ", ") + paramOf(param) + ": " + param.type + "[" + shape + "]";
    call.text += (call.operands.empty() ? "" : ", ") + ("$" + std::to_string(call.operands.size()));
    call.operands.push_back(param.name);
  }
  call.declaration = "kernel $K(" + parameters + ") -> (" + outputs + ") {\n    parallel " + heads +
                     " {\n" + body + "    }\n}" + schedule() + "\n";
  call.text = "$K(" + call.text + ")";
  call.results = results;
  return g.add(std::move(call));
}

bool GraphGenerator::kernelCall() { return KernelMaker(*this).run(); }
