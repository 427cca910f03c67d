// Runs a specialized kernel on ranges: for each element of each output, every value that an
// implementation may give. It shares no code with the interpreter or a backend, and is evaluated
// with blocks as long as their dimensions, so it doesn't depend on tile sizes either.
#pragma once

#include "tests/fuzz/kernels/NumberSet.h"

#include "ir/dialect/TileOps.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::fuzz {

/// A parameter: a tensor's elements in memory (null for outputs), or a scalar's.
struct Argument {
  DType type = DType::F32;
  std::vector<int64_t> shape;
  const std::byte *data = nullptr;
};

struct Evaluation {
  /// Why there is no result: a faulty kernel (an access outside, an element stored twice), an op
  /// that is unknown here, or, with `isUndecided`, control flow or an index that depends on a
  /// number which is known up to rounding only.
  std::string problem;
  bool isUndecided = false;
  /// Of the first assertion that fails, in the order of the programs: what it says, and where. Then
  /// outputs hold anything.
  std::optional<std::string> failure;
  /// What is printed, up to a failure; none if it depends on a number that isn't known exactly.
  std::optional<std::string> printed = "";
  /// By parameter; of outputs only.
  std::vector<std::vector<NumberSet>> outputs;
};

Evaluation evaluate(ir::KernelOp kernel, llvm::ArrayRef<Argument> arguments,
                    llvm::ArrayRef<int64_t> dims);

} // namespace tile::fuzz
