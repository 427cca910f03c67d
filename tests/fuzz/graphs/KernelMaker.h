// Puts one random kernel of a graph together.
#pragma once

#include "tests/fuzz/graphs/GraphGenerator.h"

namespace tile::fuzz {

/// One kernel: axes of its output, and values of accesses along them.
class KernelMaker {
public:
  explicit KernelMaker(GraphGenerator &generator) : g(generator), random(generator.random) {}
  bool run();

private:
  struct Axis {
    enum class Kind { Block, Each, Whole, Loop, Counter } kind = Kind::Block;
    std::string name, extent; // over the kernel's dims
    bool isRestricted = false;
    bool isSpan() const { return kind != Kind::Each && kind != Kind::Counter; }
  };

  const char *name(size_t n) const { return names[n]; }
  std::string dimOf(const std::string &extent);
  std::string inGraph(const std::string &extent) const;
  std::string paramOf(const GraphTensor &tensor);
  void chooseAxes(const GraphTensor &main);
  std::string list(const std::function<bool(const Axis &)> &wanted) const;
  /// A leaf that has the axis.
  Leaf along(Leaf leaf, const std::vector<std::string> &axes);
  Leaf access(const GraphTensor &tensor, const std::vector<Axis> &over);
  std::string index(const std::string &extent, const std::vector<Axis> &over, bool &isInside);
  std::string dataIndex(const Axis &axis);
  std::vector<Leaf> leaves(const std::vector<Axis> &over, size_t atLeast);
  Leaf reduced(const GraphTensor &tensor);
  Leaf folded(const GraphTensor &tensor);
  Leaf counted(const GraphTensor &tensor);
  Leaf branched();
  Leaf alongWhole(Leaf leaf, const Axis &axis);
  std::string condition(const std::string &bound);
  std::string zeros(const std::string &type, const char *value = "0");
  void store(const Leaf &value);
  std::string schedule();
  void line(const std::string &text) { body += "        " + text + "\n"; }
  std::string fresh(const std::string &prefix) { return prefix + std::to_string(++serial); }

  GraphGenerator &g;
  Random &random;
  std::vector<std::string> extents; // of the graph, by the kernel's dim
  std::vector<GraphTensor> params;
  std::vector<Axis> axes;
  std::string body, outputs;
  std::vector<GraphTensor> results;
  std::vector<std::string> loops;
  int serial = 0;
  static constexpr const char *names[] = {"A", "B", "C", "D", "E", "F",
                                          "G", "H", "Q", "R", "S", "U"};
};

} // namespace tile::fuzz
