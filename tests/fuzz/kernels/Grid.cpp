// Grid kernels, in which the order of programs doesn't matter; and what kernels say: assertions and
// prints.
#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

//===-- Grid kernels ------------------------------------------------------===//

/// The whole body of a grid kernel behind its head, which it gives.
std::string Generator::gridKernel(std::vector<Node> &lines) {
  auto &[extent, length] = random.pick(extents);
  int64_t size = random.between(1, 9);
  std::string block = std::to_string(size), whole = "(" + extent + ")";
  std::string programs = "(" + whole + " + " + std::to_string(size - 1) + ") / " + block;
  std::string head = "grid p in 0..cdiv(" + extent + ", " + block + ")";
  counters.push_back({"p", programs});
  if (random.chance(30)) {
    head += ", q in 0..3";
    counters.push_back({"q", "3"});
  }
  std::string name = fresh("b");
  lines.push_back(statement("let " + name + " = range(" + block + ") if " + block + " * p + " +
                                name + " < " + extent,
                            {}));
  axes.push_back({.name = name, .index = name, .extent = block, .length = size});
  axes.back().isRestricted = true;
  GridBlock at{name, extent, block + " * p + " + name};
  if (counters.size() > 1) {
    at.extent = "3, " + at.extent;
    at.index = "q, " + at.index;
  }
  for (size_t n = 0, count = 1 + random.below(3); n < count; ++n) {
    std::string type = anyType("any"), value = fresh("t");
    lines.push_back(
        statement("let " + value + " = " + newInput(type, {at.extent}) + "[" + at.index + "]", {}));
    names.push_back({value, type, {name}, false});
  }
  for (size_t n = 0, count = random.below(4); n < count; ++n) {
    size_t die = random.below(10);
    if (die < 6)
      let(lines);
    else if (die < 8)
      countedLoop(lines, 1);
    else
      branch(lines, 1);
  }
  for (size_t n = 0, count = 1 + random.below(3); n < count; ++n)
    atomic(lines, at);
  if (random.chance(50))
    gridStores(lines, at);
  if (random.chance(30))
    update(lines, true);
  return head;
}

/// An operation on elements whose result doesn't depend on the order; what was there isn't used.
void Generator::atomic(std::vector<Node> &lines, const GridBlock &at) {
  Parameter target;
  target.mode = Parameter::Mode::InOut;
  target.name = fresh("h");
  target.type = anyType("i32 i64 u32 u64 f32 f64");
  static const std::vector<std::string> operations = {"max", "min", "add", "add",
                                                      "and", "or",  "xor"};
  std::string operation = operations[random.below(isFloatType(target.type) ? 2 : 7)];
  target.shape = {random.chance(20) ? "1" : random.pick(extents).first};
  Axes its = random.chance(85) ? Axes{at.axis} : Axes();
  std::vector<Node> children = {value(target.type, its, 2)};
  std::string index = "0";
  if (target.shape[0] != "1") {
    children.push_back(value(random.chance(70) ? "i32" : "i64", its, 1));
    index = random.chance(70) ? "$1 % 7 - 1" : "$1";
  }
  program.parameters.push_back(target);
  std::string text = "atomic_" + operation + "(" + target.name + ".drop[" + index + "], $0" +
                     (random.chance(15) ? ", order = acq_rel)" : ")");
  Node made = statement(text, std::move(children));
  if (random.chance(15))
    made = statement("if $0 {$1}", {value("bool", {}, 1), block({std::move(made)})});
  lines.push_back(std::move(made));
}

/// An output of which each program stores its part, and an `inout` of which it may.
void Generator::gridStores(std::vector<Node> &lines, const GridBlock &at) {
  Parameter output;
  output.mode = Parameter::Mode::Out;
  output.name = fresh("y");
  output.type = anyType("any half");
  output.shape = {at.extent};
  Node made = value(output.type, {at.axis}, 2);
  program.parameters.push_back(output);
  lines.push_back(statement(output.name + "[" + at.index + "] = $0", {std::move(made)}));
  if (random.chance(50))
    return;
  Parameter changed = output;
  changed.mode = Parameter::Mode::InOut;
  changed.name = fresh("z");
  program.parameters.push_back(changed);
  std::string old = fresh("t");
  lines.push_back(statement("let " + old + " = " + changed.name + "[" + at.index + "]", {}));
  names.push_back({old, changed.type, {at.axis}, false});
  size_t comma = at.index.find(", ");
  std::string first = comma == std::string::npos ? "" : at.index.substr(0, comma + 2);
  std::string last = comma == std::string::npos ? at.index : at.index.substr(comma + 2);
  std::vector<Node> children = {value(changed.type, {at.axis}, 2), value("bool", {at.axis}, 1)};
  lines.push_back(statement(changed.name + ".drop[" + first + "where($1, " + last + ", -1)] = $0",
                            std::move(children)));
}

//===-- Reports -----------------------------------------------------------===//

/// An assertion that holds, mostly.
void Generator::assertion(std::vector<Node> &lines) {
  Axes allowed = someOf(axesWhere([](const Axis &) { return true; }), 50);
  std::string text = fresh("m"), type = anyType("int");
  std::vector<Node> children;
  if (random.chance(20)) {
    children = {value("bool", allowed, 2)};
    text = "assert($0, \"" + text + "\")";
  } else {
    children = {value(type, allowed, 1), value(type, allowed, 1)};
    text = std::string("assert(") +
           (random.chance(50) ? "min($0, $1) <= $1" : "$0 <= max($0, $1)") + ", \"" + text + "\")";
  }
  lines.push_back(statement(text, std::move(children)));
}

void Generator::print(std::vector<Node> &lines) {
  Axes allowed = someOf(axesWhere([](const Axis &) { return true; }), 50);
  Node made = statement("", {});
  std::string text;
  for (size_t n = 0, count = 1 + random.below(3); n < count; ++n) {
    if (random.chance(30))
      text += (text.empty() ? "" : ", ") + ("\"" + fresh("m") + "\"");
    text += (text.empty() ? "$" : ", $") + std::to_string(n);
    made.children.push_back(value(anyType("int bool any half"), allowed, 1));
  }
  made.text = "print(" + text + ")";
  lines.push_back(std::move(made));
}
