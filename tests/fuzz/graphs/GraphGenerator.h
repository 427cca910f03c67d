// Makes random graphs that are mostly right. Most calls are of kernels put together here: an
// output's axes, accesses of tensors by all kinds of indices along them, reductions, scans, loops
// and branches (Kernels.cpp). What has a shape of its own is a row of a table (Templates.cpp), or a
// kernel of the generator of random kernels (tests/fuzz/kernels).
#pragma once

#include "tests/fuzz/graphs/Graph.h"
#include "tests/fuzz/kernels/Generator.h"

#include <functional>

namespace tile::fuzz {

/// A value of an expression, as text.
struct Leaf {
  std::string text, type;
  double limit = 0;
};

class GraphGenerator {
public:
  explicit GraphGenerator(uint64_t seed) : random(seed) { program.seed = seed; }
  GraphProgram run();

private:
  friend class KernelMaker;
  friend class TemplateMaker;

  //===-- Tensors (GraphGenerator.cpp) ------------------------------------===//
  std::string anyType();
  std::string anyFloat();
  std::string newName() { return "t" + std::to_string(++serial); }
  GraphTensor newInput(const std::string &type, std::vector<std::string> shape);
  /// A tensor that is there, recent ones more likely, or a new input. By value: lists grow.
  GraphTensor anyTensor(const std::function<bool(const GraphTensor &)> &wanted,
                        const std::function<GraphTensor()> &make, int percentNew = 12);
  GraphTensor tensorOf(const std::string &type, const std::vector<std::string> &shape);
  GraphTensor tensorOfRank(size_t rank, const std::string &type = "");
  int64_t valueOf(const std::string &extent) const;
  /// False, and nothing is added, if a result would be too large.
  bool add(GraphCall call);
  bool isExact() const { return program.values == Values::Exact; }
  bool isSmooth() const { return program.values == Values::Smooth; }
  bool isRough() const { return program.values == Values::Rough; }
  /// The same tensor with numbers small enough for sums of `terms` products.
  GraphTensor small(GraphTensor tensor, double terms);

  //===-- Expressions (Expressions.cpp) ------------------------------------===//
  std::string number(const std::string &type);
  Leaf cast(Leaf leaf, const std::string &type);
  Leaf wrapped(Leaf leaf);
  /// Of some of the leaves, at least the first one.
  Leaf expression(const std::string &type, std::vector<Leaf> leaves);
  Leaf combine(const std::string &type, std::vector<Leaf> &leaves, int depth);
  Leaf smoothly(const std::string &type, const Leaf &a, const Leaf &b);
  Leaf exactly(const std::string &type, const Leaf &a, const Leaf &b);

  //===-- Calls -------------------------------------------------------------===//
  bool mapCall();
  bool operators();
  bool kernelCall();
  bool templateCall();
  bool randomKernel();
  void repeatSome();

  Random random;
  GraphProgram program;
  int serial = 0;
  size_t inputSerial = 0;
};

} // namespace tile::fuzz
