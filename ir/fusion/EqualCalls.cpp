//===- EqualCalls.cpp - calls that give the same --------------------------===//

#include "ir/fusion/EqualCalls.h"
#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/EqualKernels.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include <map>

using namespace mlir;
using namespace tile::ir;

/// Equal for operations that give the same. Attributes and types are unique in a context: their
/// addresses stand for them.
static std::vector<const void *> wordsOf(Operation &op) {
  std::vector<const void *> words = {op.getName().getAsOpaquePointer()};
  if (auto call = dyn_cast<CallOp>(op)) {
    words.push_back(call.getCalleeAttr().getAsOpaquePointer());
    words.push_back(call.getConstNamesAttr().getAsOpaquePointer());
  } else {
    words.push_back(op.getAttrDictionary().getAsOpaquePointer());
  }
  for (Type type : op.getResultTypes())
    words.push_back(type.getAsOpaquePointer());
  for (Value operand : op.getOperands())
    words.push_back(operand.getAsOpaquePointer());
  return words;
}

void tile::ir::mergeEqualCalls(GraphOp graph, function_ref<void(CallOp, CallOp)> goes) {
  SymbolTable symbols(graph->getParentOfType<ModuleOp>());
  std::map<std::vector<const void *>, Operation *> known;
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front().without_terminator())) {
    auto call = dyn_cast<CallOp>(op);
    if (call ? hasEffects(symbols.lookup(call.getCallee())) : !isPure(&op))
      continue;
    auto [first, isNew] = known.try_emplace(wordsOf(op), &op);
    if (isNew)
      continue;
    if (call)
      goes(call, cast<CallOp>(first->second));
    op.replaceAllUsesWith(first->second);
    op.erase();
  }
}

namespace {
class MergeEqualCallsPass : public PassWrapper<MergeEqualCallsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MergeEqualCallsPass)

  StringRef getArgument() const override { return "tile-merge-equal-calls"; }
  StringRef getDescription() const override { return "Makes one of calls that give the same"; }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    EqualKernels kernels;
    for (GraphOp graph : getOperation().getOps<GraphOp>()) {
      for (CallOp call : graph.getBody().getOps<CallOp>())
        if (auto kernel = symbols.lookup<KernelOp>(call.getCallee()))
          call.setCallee(kernels.firstOf(kernel).getSymName());
      mergeEqualCalls(graph, [](CallOp, CallOp) {});
    }
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createMergeEqualCallsPass() {
  return std::make_unique<MergeEqualCallsPass>();
}
