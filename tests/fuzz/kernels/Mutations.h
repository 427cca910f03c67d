// Planted miscompiles: changes to the specialized IR that a backend gets, each one that a backend's
// mistake would amount to. The test plants each and looks whether random kernels notice.
#pragma once

#include "ir/dialect/TileOps.h"

#include <vector>

namespace tile::fuzz {

struct Mutation {
  const char *name;
  /// Changes the kernel in every place it can; false where there is none.
  bool (*apply)(ir::KernelOp kernel);
};

const std::vector<Mutation> &mutations();
/// Those of scans, sorts and shapes, of grid kernels and of reports.
std::vector<Mutation> mutationsAlong();

/// Calls `change` on every op of a type; whether it changed one.
template <typename OpT>
bool each(ir::KernelOp kernel, llvm::function_ref<bool(OpT)> change) {
  llvm::SmallVector<OpT> ops;
  kernel.walk([&](OpT op) { ops.push_back(op); });
  bool changed = false;
  for (OpT op : ops)
    changed |= change(op);
  return changed;
}

} // namespace tile::fuzz
