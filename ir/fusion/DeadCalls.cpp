//===- DeadCalls.cpp - calls that nobody needs ----------------------------===//

#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/LaunchChecks.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tile::ir;

bool tile::ir::hasEffects(Operation *callee) {
  return callee
      ->walk([&](Operation *op) {
        bool isSeen = isa<AssertOp, PrintOp, MayNotEndOp>(op);
        if (auto call = dyn_cast<CallOp>(op))
          isSeen = hasEffects(SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()));
        return isSeen ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tile::ir::dropDeadCalls(GraphOp graph, function_ref<void(CallOp)> goes) {
  GraphShapes shapes(graph);
  SmallVector<CallOp> calls(graph.getBody().getOps<CallOp>());
  for (CallOp call : llvm::reverse(calls)) {
    KernelOp kernel = shapes.kernelOf(call);
    if (!kernel || !call.use_empty() || hasEffects(kernel))
      continue;
    if (!requireInputs(call, shapes) || !requireConditions(call, shapes))
      continue;
    goes(call);
    call.erase();
  }
}

namespace {
class DropDeadCallsPass : public PassWrapper<DropDeadCallsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropDeadCallsPass)

  StringRef getArgument() const override { return "tile-drop-dead-calls"; }
  StringRef getDescription() const override {
    return "Erases calls without effects whose results nobody uses";
  }

  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      dropDeadCalls(graph, [](CallOp) {});
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createDropDeadCallsPass() {
  return std::make_unique<DropDeadCallsPass>();
}
