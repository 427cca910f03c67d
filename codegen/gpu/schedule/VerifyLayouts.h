//===- VerifyLayouts.h - what the layouts of a kernel agree on ------------===//
#ifndef TILE_CODEGEN_GPU_SCHEDULE_VERIFYLAYOUTS_H
#define TILE_CODEGEN_GPU_SCHEDULE_VERIFYLAYOUTS_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::codegen::gpu {

/// What the lowering relies on, beyond the verifiers of single ops: every tile has a layout, for
/// the kernel's number of warps, that covers it; and where ops need tiles to be held as parts of
/// others (broadcasts, reductions, indices), they are. An error at the first op where that is not
/// so.
mlir::LogicalResult verifyLayouts(ir::KernelOp kernel);

/// The axes of a reduction's operand, by place, that its result has.
llvm::SmallVector<unsigned> keptAxes(ir::ReduceOp op);

/// Whether blocks of a cluster can fold a reduction: it is spread over all of them or over none, as
/// folds between blocks need it; and they meet for it once, since what they send to each other
/// arrives once: not in each block of a loop.
bool foldsInCluster(ir::ReduceOp op);

std::unique_ptr<mlir::Pass> createVerifyLayoutsPass();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_SCHEDULE_VERIFYLAYOUTS_H
