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
  if (random.chance(8))
    return trusted(type, wanted);
  if (isGather)
    return gather(type, wanted);
  if (random.chance(15))
    return strided(type, wanted);
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

/// Through index arithmetic that is inside for all dimensions.
Node Generator::strided(const std::string &type, const Axes &wanted) {
  std::vector<std::string> shape;
  std::string text;
  auto add = [&](const std::string &extent, const std::string &index) {
    shape.push_back(extent);
    text += (text.empty() ? "" : ", ") + index;
  };
  std::vector<const Axis *> left;
  for (const std::string &name : wanted)
    left.push_back(&axis(name));
  while (!left.empty()) {
    const Axis &at = *left.back();
    left.pop_back();
    std::string c = std::to_string(random.between(2, 4)), d = std::to_string(random.between(0, 1));
    const std::string &i = at.index, extent = "(" + at.extent + ")";
    size_t die = i == ":" ? 9 : random.below(shape.size() < 4 ? 7 : 3);
    if (die == 0)
      add(c + " * " + extent, c + " * " + i + " + " + d);
    else if (die == 1)
      add(at.extent, extent + " - 1 - " + i);
    else if (die == 2)
      add("2 * " + extent + " + 3", random.chance(50) ? i + " + 2" : "2 * " + i + " + 3 - " + d);
    else if (die == 3)
      add("(" + at.extent + " + 1) / 2", i + " / 2"), add("2", i + " % 2");
    else if (die == 4)
      add(c, "(" + i + " + " + d + ") % " + c);
    else if (die == 5 && !left.empty() && left.back()->index != ":") {
      add(extent + " + " + "(" + left.back()->extent + ")", i + " + " + left.back()->index);
      left.pop_back();
    } else
      add(at.extent, i);
  }
  if (shape.empty())
    add("3", random.chance(50) || counters.empty() ? "1" : random.pick(counters).name + " % 3");
  Node node = expression(newInput(type, shape) + "[" + text + "]", type);
  node.axes = wanted;
  return node;
}

/// Through data that is inside, as the author promises.
Node Generator::trusted(const std::string &type, const Axes &wanted) {
  std::vector<std::string> shape;
  std::string text;
  std::vector<Node> children;
  auto addData = [&](const Axes &its) {
    auto [extent, length] = extents[random.below(extents.size())];
    if (length == 0)
      extent = "5";
    children.push_back(load(random.chance(50) ? "i32" : "i64", its));
    std::string data = "i64($" + std::to_string(children.size() - 1) + ")";
    bool wraps = random.chance(60);
    shape.push_back(extent);
    text += (text.empty() ? "" : ", ") +
            (wraps ? data + " % (" + extent + ")" : "clamp(" + data + ", 0, (" + extent + ") - 1)");
  };
  for (const std::string &name : wanted) {
    const Axis &at = axis(name);
    if (!at.isInside || (random.chance(60) && children.size() < 3)) {
      addData({name});
      continue;
    }
    shape.push_back(at.extent);
    text += (text.empty() ? "" : ", ") + at.index;
  }
  if (children.empty())
    addData(random.chance(50) ? wanted : Axes());
  Node node = expression(newInput(type, shape) + ".within[" + text + "]", type, children);
  node.axes = wanted;
  return node;
}

/// Random numbers, by coordinates: bits, uniform ones or normal ones.
Node Generator::randomNumber(const std::string &type, const Axes &allowed) {
  std::string text, seed = std::to_string(random.between(-3, 1000));
  Axes its = someOf(allowed, 60);
  std::vector<std::string> coordinates(its.begin(), its.end());
  for (const Counter &counter : counters)
    if (coordinates.size() < 3 && random.chance(30))
      coordinates.push_back(counter.name);
  for (size_t n = coordinates.size(); n > 1; --n)
    std::swap(coordinates[n - 1], coordinates[random.below(n)]);
  for (const std::string &coordinate : coordinates)
    text += ", " + coordinate;
  std::vector<Node> children;
  if (coordinates.empty() || random.chance(15)) { // any integers
    children.push_back(leaf("i64", allowed));
    text = ", $0";
    its = {};
  }
  if (random.chance(30)) {
    children.push_back(leaf(anyType("int"), allowed));
    seed = "$" + std::to_string(children.size() - 1);
  }
  std::string function = type == "u32" ? "rand_bits(" : random.chance(60) ? "rand(" : "randn(";
  Node node = expression(function + seed + ", " + std::to_string(random.between(0, 9)) + text + ")",
                         type, std::move(children));
  node.axes.insert(its.begin(), its.end());
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
  if ((type == "f32" || type == "u32") && random.chance(6))
    return randomNumber(type, allowed);
  return load(type, someOf(allowed, 65));
}
