//===- DeadCalls.h - calls that nobody needs ------------------------------===//
#ifndef TILE_IR_FUSION_DEADCALLS_H
#define TILE_IR_FUSION_DEADCALLS_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

/// Whether of a kernel, or of a kernel that a graph calls, more is seen than its outputs: it
/// asserts, prints, or may not end. Random numbers are no effect: a draw is a function of seed,
/// stream and counter, and those are values like any other.
bool hasEffects(mlir::Operation *callee);

/// Erases calls of kernels whose results nobody uses and that have no effects, those first that
/// come last. What their launches would check the graph requires. `goes` is called before.
void dropDeadCalls(GraphOp graph, llvm::function_ref<void(CallOp)> goes);

/// `tile-drop-dead-calls`
std::unique_ptr<mlir::Pass> createDropDeadCallsPass();

} // namespace tile::ir

#endif // TILE_IR_FUSION_DEADCALLS_H
