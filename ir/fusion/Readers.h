//===- Readers.h - the calls that read a tensor, by number ----------------===//
#ifndef TILE_IR_FUSION_READERS_H
#define TILE_IR_FUSION_READERS_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/DenseMap.h"

#include <set>

namespace tile::ir {

/// Finds the near ones among thousands that read one tensor.
class Readers {
public:
  void add(CallOp call, unsigned id);
  void remove(CallOp call, unsigned id);
  /// What read the one reads the other now.
  void replace(mlir::Value old, mlir::Value now);
  size_t count(mlir::Value tensor) const;
  /// So many others at most, the nearest first; of two that are equally near, the one before.
  llvm::SmallVector<unsigned> nearest(mlir::Value tensor, unsigned id, size_t most,
                                      bool onlyBefore) const;

private:
  llvm::DenseMap<mlir::Value, std::set<unsigned>> readers;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_READERS_H
