//===- EqualCalls.h - calls that give the same ----------------------------===//
#ifndef TILE_IR_FUSION_EQUALCALLS_H
#define TILE_IR_FUSION_EQUALCALLS_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

/// Makes one of calls of the same kernel on the same operands and constants. Tensors of a graph are
/// values: an `inout` operand is what it was before the first of the calls, and that is what the
/// second would have got. Kernels with effects (DeadCalls.h) are called as often as it is written.
/// A call of a random kernel draws the same numbers each time: their seed is an operand or in the
/// kernel. `goes` is called with each call that goes and the one that gives the same.
void mergeEqualCalls(GraphOp graph, llvm::function_ref<void(CallOp, CallOp)> goes);

/// `tile-merge-equal-calls`; calls of equal kernels (EqualKernels.h) become calls of one before.
std::unique_ptr<mlir::Pass> createMergeEqualCallsPass();

} // namespace tile::ir

#endif // TILE_IR_FUSION_EQUALCALLS_H
