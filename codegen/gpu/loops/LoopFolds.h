//===- LoopFolds.h - reductions that wait for their loop ------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_LOOPFOLDS_H
#define TILE_CODEGEN_GPU_LOOPS_LOOPFOLDS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Whether all that a reduction is for is to be joined with what its loop carries. Threads then
/// fold what they have themselves in the loop, and each other's once it ends (lower/Folds.h); any
/// other reduction of a loop is done in each of its blocks.
bool waitsForLoop(ir::ReduceOp reduce);
/// Such a reduction, of what a loop yields for a value that it carries, and the op that joins both;
/// or nulls.
std::pair<ir::ReduceOp, mlir::Operation *> foldOf(mlir::Value yielded, mlir::BlockArgument carried);
/// Whether what is carried for a reduction is sums, and behind them what these have lost.
bool isSumOfFloats(ir::ReduceOp reduce);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_LOOPFOLDS_H
