//===- DeadOutputs.h - outputs that nobody reads --------------------------===//
#ifndef TILE_IR_FUSION_DEADOUTPUTS_H
#define TILE_IR_FUSION_DEADOUTPUTS_H

#include "ir/fusion/GraphShapes.h"

#include <map>
#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

/// Leaves out of kernels what nobody reads of a call's results: it isn't stored, and what is
/// computed for it alone isn't computed. A call of the same kernel of which as much is read has
/// the same new kernel.
class DeadOutputs {
public:
  explicit DeadOutputs(GraphShapes &shapes) : shapes(shapes) {}

  /// The call that takes the place of this one, which is the caller's to erase, with the results
  /// that are read; `replaced` is told of each. Null, and nothing has changed, where all are read,
  /// or none, or those that aren't the kernel itself reads.
  CallOp drop(CallOp call, llvm::function_ref<void(mlir::Value, mlir::Value)> replaced);

private:
  GraphShapes &shapes;
  std::map<std::pair<mlir::Operation *, std::vector<bool>>, KernelOp> known;
};

/// All calls of a graph of which something isn't read; `mayDrop` is asked of each, and `replaced`
/// told.
void dropDeadOutputs(GraphOp graph, GraphShapes &shapes, llvm::function_ref<bool(CallOp)> mayDrop,
                     llvm::function_ref<void(CallOp, CallOp)> replaced);

/// `tile-drop-dead-outputs`
std::unique_ptr<mlir::Pass> createDropDeadOutputsPass();

} // namespace tile::ir

#endif // TILE_IR_FUSION_DEADOUTPUTS_H
