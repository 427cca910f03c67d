#include "tests/fuzz/graphs/KernelMaker.h"

#include <algorithm>

using namespace tile::fuzz;

/// The kernel's name of an extent of the graph.
std::string KernelMaker::dimOf(const std::string &extent) {
  if (std::isdigit(static_cast<unsigned char>(extent[0])))
    return extent;
  auto found = std::find(extents.begin(), extents.end(), extent);
  if (found == extents.end())
    found = extents.insert(extents.end(), extent);
  return names[found - extents.begin()];
}

std::string KernelMaker::inGraph(const std::string &extent) const {
  std::string text;
  for (char c : extent) {
    auto isName = [&](const char *name) { return *name == c; };
    const auto *found = std::find_if(std::begin(names), std::end(names), isName);
    text += found == std::end(names) ? std::string(1, c) : extents[found - std::begin(names)];
  }
  return text;
}

std::string KernelMaker::paramOf(const GraphTensor &tensor) {
  auto found = std::find_if(params.begin(), params.end(),
                            [&](const GraphTensor &t) { return t.name == tensor.name; });
  size_t position = found - params.begin();
  if (found == params.end())
    params.push_back(tensor);
  return std::string(1, static_cast<char>('a' + position)) + "0";
}

void KernelMaker::chooseAxes(const GraphTensor &main) {
  static const std::vector<std::string> binders = {"i", "j", "l"};
  std::vector<std::string> wanted;
  for (const std::string &extent : main.shape)
    wanted.push_back(dimOf(extent));
  for (size_t n = wanted.size(); n > 1; --n)
    if (random.chance(30))
      std::swap(wanted[n - 1], wanted[random.below(n)]);
  if (wanted.size() > 1 && random.chance(20))
    wanted.pop_back();
  if (wanted.empty() || (wanted.size() < 3 && random.chance(12)))
    wanted.push_back(random.chance(50) ? "2" : "3");
  bool hasDim = std::isalpha(static_cast<unsigned char>(wanted[0][0]));
  if (hasDim && random.chance(16)) {
    static const std::vector<std::string> forms = {"2 * $0", "$0 / 2", "$0 + 3", "3 * $0"};
    wanted[0] = "(" + fill(random.pick(forms), {{"0", wanted[0]}}) + ")";
  }
  for (size_t n = 0; n < wanted.size(); ++n) {
    Axis axis{Axis::Kind::Block, binders[n], wanted[n]};
    if (n > 0 && random.chance(30)) {
      axis.kind = Axis::Kind::Whole;
      axis.name = fresh("w");
    } else if (random.chance(10)) {
      axis.kind = Axis::Kind::Each;
    }
    axes.push_back(axis);
  }
}

std::string KernelMaker::list(const std::function<bool(const Axis &)> &wanted) const {
  std::string text;
  for (const Axis &axis : axes)
    if (wanted(axis))
      text += ", " + axis.name;
  return text;
}

std::string KernelMaker::zeros(const std::string &type, const char *value) {
  return "full(" + type + ", " + value + list([](const Axis &axis) { return axis.isSpan(); }) + ")";
}

Leaf KernelMaker::along(Leaf leaf, const std::vector<std::string> &names) {
  std::string all;
  for (const std::string &name : names)
    all += ", " + name;
  if (leaf.type == "bool")
    leaf.text = "(" + leaf.text + " && (zeros(i32" + all + ") == 0))";
  else
    leaf.text = "(" + leaf.text + " + zeros(" + leaf.type + all + "))";
  return leaf;
}

//===-- Accesses ----------------------------------------------------------===//

std::string KernelMaker::dataIndex(const Axis &axis) {
  std::string type = random.chance(70) ? "i32" : "i64";
  std::string extent = inGraph(axis.extent);
  GraphTensor ids = g.anyTensor(
      [&](const GraphTensor &t) {
        return (t.type == "i32" || t.type == "i64") && t.shape == std::vector{extent};
      },
      [&] { return g.newInput(type, {extent}); });
  return paramOf(ids) + "[" + axis.name + "]";
}

std::string KernelMaker::index(const std::string &extent, const std::vector<Axis> &over,
                               bool &isInside) {
  std::vector<Axis> same, bare;
  for (const Axis &axis : over) {
    if (axis.extent == extent && axis.kind != Axis::Kind::Counter)
      same.push_back(axis);
    if (axis.extent.size() == 1 && axis.kind != Axis::Kind::Counter &&
        axis.kind != Axis::Kind::Loop)
      bare.push_back(axis);
  }
  if (!same.empty() && random.chance(72))
    return random.pick(same).name;
  if (extent == "1" && random.chance(80))
    return "0";
  if (!same.empty() && random.chance(40)) {
    static const std::vector<std::string> forms = {"$e - 1 - $a", "($a + 2) % $e", "$a / 2",
                                                   "$a - $a % 3"};
    const Axis &axis = random.pick(same);
    return fill(random.pick(forms), {{"e", extent}, {"a", axis.name}});
  }
  isInside = false;
  if (over.empty() || random.chance(6))
    return std::to_string(random.below(4));
  if (!bare.empty() && random.chance(15))
    return dataIndex(random.pick(bare)) + (random.chance(25) ? " + 1" : "");
  static const std::vector<std::string> forms = {
      "$a + 1",       "$a - 1", "2 * $a",     "2 * $a + 1", "$a - 3",  "$a / 2 + 1",
      "($a - 3) / 2", "$a",     "3 * $a - 2", "$a + $b",    "$a - $b", "2 * $a + $b"};
  return fill(random.pick(forms), {{"a", random.pick(over).name}, {"b", random.pick(over).name}});
}

Leaf KernelMaker::access(const GraphTensor &tensor, const std::vector<Axis> &over) {
  std::string param = paramOf(tensor), indices;
  bool isInside = true;
  for (const std::string &extent : tensor.shape)
    indices += (indices.empty() ? "" : ", ") + index(dimOf(extent), over, isInside);
  Leaf leaf{"", tensor.type, tensor.limit};
  std::string how;
  if (!isInside || random.chance(4)) {
    if (random.chance(35)) {
      how = ".clamp";
    } else {
      std::string pad =
          random.chance(50) && tensor.type != "bool" ? tensor.type + "(0)" : g.number(tensor.type);
      how = ".pad(" + pad + ")";
      leaf.limit = std::max(leaf.limit, 3.0);
    }
  }
  leaf.text = param + how + "[" + indices + "]";
  return leaf;
}

/// Values along the axes; the first one of a tensor that has them, where it can be.
std::vector<Leaf> KernelMaker::leaves(const std::vector<Axis> &over, size_t atLeast) {
  std::vector<Leaf> result;
  size_t count = atLeast + (random.chance(45) ? 1 : 0) + (random.chance(20) ? 1 : 0);
  for (size_t n = 0; n < count && params.size() < 8; ++n) {
    std::vector<std::string> wanted;
    for (const Axis &axis : over)
      if (axis.kind != Axis::Kind::Counter && (wanted.size() < 2 || random.chance(30)))
        wanted.push_back(inGraph(axis.extent));
    bool useOld = n > 0 && !params.empty() && random.chance(30);
    GraphTensor tensor = useOld
                             ? params[random.below(params.size())]
                             : g.anyTensor(
                                   [&](const GraphTensor &t) {
                                     size_t fitting = 0;
                                     for (const std::string &extent : t.shape)
                                       fitting += std::count(wanted.begin(), wanted.end(), extent);
                                     return !t.shape.empty() && fitting == t.shape.size();
                                   },
                                   [&] { return g.newInput(g.anyType(), wanted); }, 10);
    if (tensor.shape.empty())
      continue;
    result.push_back(access(tensor, over));
  }
  if (random.chance(15) && !over.empty()) {
    const Axis &axis = random.pick(over);
    result.push_back({"i64(" + axis.name + ")", "i64", 40});
    if (axis.kind != Axis::Kind::Each && axis.kind != Axis::Kind::Counter)
      result.back().text = "(" + axis.name + " + 0)";
  }
  if (random.chance(6)) {
    std::string dims = list([](const Axis &) { return true; });
    result.push_back(g.isExact() ? Leaf{"floor(rand(3, 1" + dims + ") * 8)", "f32", 8}
                                 : Leaf{"rand(3, 1" + dims + ")", "f32", 1});
  }
  return result;
}
