// A random graph of kernels as text: what the generator makes and the shrinker takes apart.
#pragma once

#include "tests/fuzz/kernels/Program.h"

namespace tile::fuzz {

/// What the numbers of a graph are like.
enum class Values {
  /// Floats are integers, so small that every sum is exact: all devices and orders agree on each
  /// bit.
  Exact,
  /// Continuous functions of normal numbers: orders of sums show in the last digits alone.
  Smooth,
  /// Any operation on any number.
  Rough,
};

struct GraphTensor {
  std::string name, type;
  /// Over the graph's dims, as text, and as they are in this graph.
  std::vector<std::string> shape;
  std::vector<int64_t> extents;
  /// Of exact floats: none is larger in magnitude.
  double limit = 0;
};

/// `text` with $0 … in the places of operands and $K in that of the kernel or map that
/// `declaration` is, called $K too; a call without is of operators or of the library.
struct GraphCall {
  std::string declaration, text;
  std::vector<std::string> operands;
  std::vector<GraphTensor> results;
};

struct GraphProgram {
  uint64_t seed = 0;
  Values values = Values::Rough;
  std::map<std::string, int64_t> dims;
  std::vector<GraphTensor> inputs;
  std::vector<GraphCall> calls;
  std::vector<std::string> outputs;

  /// The source text: `graph g` and what it calls. Inputs and dims that nothing names are left out.
  std::string str() const;
  const GraphTensor *find(const std::string &name) const;
  /// Drops the calls that no output needs.
  void dropDead();
};

GraphProgram generateGraph(uint64_t seed);

/// Text with each `$name` replaced.
std::string fill(const std::string &text,
                 const std::vector<std::pair<std::string, std::string>> &names);

} // namespace tile::fuzz
