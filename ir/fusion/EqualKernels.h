//===- EqualKernels.h - kernels that are equal but for their names --------===//
#ifndef TILE_IR_FUSION_EQUALKERNELS_H
#define TILE_IR_FUSION_EQUALKERNELS_H

#include "ir/dialect/TileOps.h"

#include <map>
#include <vector>

namespace tile::ir {

/// Kernels by what they do: their own symbols, places, and names of parameters and dims don't
/// count, names of binders and all that can be seen from outside do. Those of expressions in a
/// graph are often equal.
class EqualKernels {
public:
  /// The first kernel that was asked for and is equal to this one.
  KernelOp firstOf(KernelOp kernel);

private:
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> known;
  std::map<std::vector<const void *>, mlir::Operation *> classes;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_EQUALKERNELS_H
