// Values that are made of no others: elements of inputs, names, literals, coordinates.
#include "tests/fuzz/kernels/Generator.h"

#include <algorithm>

using namespace tile::fuzz;

std::string Generator::newInput(const std::string &type, std::vector<std::string> shape,
                                int64_t indexLimit) {
  for (const Parameter &parameter : program.parameters)
    if (parameter.mode == Parameter::Mode::In && parameter.type == type &&
        parameter.shape == shape && !parameter.isScalar && parameter.indexLimit == indexLimit &&
        random.chance(60))
      return parameter.name;
  Parameter parameter;
  parameter.name = fresh("x");
  parameter.type = type;
  parameter.shape = std::move(shape);
  parameter.indexLimit = indexLimit;
  program.parameters.push_back(parameter);
  return parameter.name;
}

/// An element for every coordinate of exactly these axes.
Node Generator::load(const std::string &type, const Axes &wanted) {
  bool isGather = random.chance(22);
  for (const std::string &name : wanted)
    isGather |= !axis(name).isInside;
  if (isGather)
    return gather(type, wanted);
  std::vector<std::pair<std::string, std::string>> indices; // extent, index
  for (const std::string &name : wanted)
    indices.push_back({axis(name).extent, axis(name).index});
  for (const Counter &counter : counters)
    if (!counter.extent.empty() && random.chance(40) && indices.size() < 3)
      indices.push_back({counter.extent, counter.name});
  if (wanted.size() == 1 && axis(*wanted.begin()).index != ":" && random.chance(6))
    indices.push_back(indices[0]); // a diagonal
  for (size_t n = indices.size(); n > 1; --n)
    std::swap(indices[n - 1], indices[random.below(n)]);
  std::vector<std::string> shape;
  std::string text;
  for (auto &[extent, index] : indices) {
    shape.push_back(extent);
    text += (text.empty() ? "" : ", ") + index;
  }
  if (indices.empty()) {
    shape = {"1"};
    text = "0";
  }
  Node node = expression(newInput(type, shape) + "[" + text + "]", type);
  node.axes = wanted;
  return node;
}

/// An index of one axis that may be outside; data, as a child, where there is room for it.
std::string Generator::gatherIndex(const Axis &axis, std::vector<Node> &children) {
  static const std::vector<std::string> forms = {"%",      "% + 1", "2 * % - 1",   "% - 3",
                                                 "-% + 4", "% / 2", "(% + 2) % 3", "D"};
  std::string form = forms[random.below(forms.size())];
  if (form == "D") {
    form = "%";
    Node data = children.size() < 2 ? load(random.chance(70) ? "i32" : "i64", {axis.name}) : Node();
    if (!data.text.empty() && data.text.find('.') == std::string::npos) {
      for (Parameter &parameter : program.parameters)
        if (parameter.name == data.text.substr(0, data.text.find('[')))
          parameter.indexLimit = 6;
      children.push_back(std::move(data));
      return "$" + std::to_string(children.size() - 1);
    }
  }
  size_t at = form[0] == '(' ? 1 : form.find('%'); // another % is an operator
  return form.replace(at, 1, axis.index);
}

/// Indices that may be outside: read with a value there, or with the nearest element.
Node Generator::gather(const std::string &type, const Axes &wanted) {
  std::vector<std::string> shape;
  std::string text;
  std::vector<Node> children;
  std::vector<const Axis *> left;
  for (const std::string &name : wanted)
    left.push_back(&axis(name));
  while (!left.empty() || shape.empty()) {
    auto &[extent, length] = random.pick(extents);
    std::string index;
    if (left.empty()) {
      index = counters.empty() || random.chance(30)
                  ? std::to_string(random.between(-1, 3))
                  : random.pick(counters).name + " - " + std::to_string(random.between(0, 2));
    } else {
      const Axis *at = left.back();
      left.pop_back();
      if (at->index == ":") { // inside its own dimension only
        shape.push_back(at->extent);
        text += text.empty() ? ":" : ", :";
        continue;
      }
      index = gatherIndex(*at, children);
      if (!left.empty() && index[0] != '$' && random.chance(10) && left.back()->index != ":") {
        index += " + " + left.back()->index;
        left.pop_back();
      }
    }
    shape.push_back(extent);
    text += (text.empty() ? "" : ", ") + index;
  }
  std::string mode = random.chance(50) ? ".clamp" : ".pad(" + literal(random, type) + ")";
  Node node = expression(newInput(type, shape) + mode + "[" + text + "]", type, children);
  node.axes = wanted;
  return node;
}

Node Generator::leaf(const std::string &type, const Axes &allowed) {
  if (random.chance(45)) {
    std::vector<const Name *> fitting;
    for (const Name &name : names)
      if (name.type == type &&
          std::includes(allowed.begin(), allowed.end(), name.axes.begin(), name.axes.end()))
        fitting.push_back(&name);
    if (!fitting.empty()) {
      const Name &name = *random.pick(fitting);
      Node node = expression(name.name, type);
      node.axes = name.axes;
      return node;
    }
  }
  if (random.chance(12))
    return expression(literal(random, type), type);
  if (random.chance(8) && type != "bool") {
    // A coordinate.
    Axes named = someOf(allowed, 50);
    for (const std::string &name : named)
      if (axis(name).index != ":") {
        Node node = expression(type + "(" + axis(name).index + ")", type);
        node.axes = {name};
        return node;
      }
    if (!counters.empty())
      return expression(type + "(" + random.pick(counters).name + ")", type);
  }
  if (random.chance(6)) {
    Parameter parameter;
    parameter.name = fresh("s");
    parameter.type = type;
    parameter.isScalar = true;
    program.parameters.push_back(parameter);
    return expression(parameter.name, type);
  }
  return load(type, someOf(allowed, 65));
}
