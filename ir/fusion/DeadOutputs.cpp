//===- DeadOutputs.cpp - outputs that nobody reads ------------------------===//

#include "ir/fusion/DeadOutputs.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tile::ir;

/// Whether a kernel does nothing with an output but store it.
static bool isOnlyStored(KernelOp kernel, unsigned param) {
  ParamMode mode = kernel.getParamMode(param);
  Value memory = kernel.getArgument(param);
  return (mode == ParamMode::Out || mode == ParamMode::Reduce) &&
         llvm::all_of(memory.getUses(), [](OpOperand &use) {
           if (auto store = dyn_cast<StoreOp>(use.getOwner()))
             return store.getTarget() == use.get();
           auto update = dyn_cast<UpdateOp>(use.getOwner());
           return update && update.getTarget() == use.get();
         });
}

/// The kernel without these parameters, outputs that are only stored.
static OwningOpRef<KernelOp> without(KernelOp kernel, const llvm::BitVector &params) {
  OwningOpRef<KernelOp> copy(kernel.clone());
  for (unsigned n : params.set_bits())
    for (Operation *user : llvm::make_early_inc_range(copy->getArgument(n).getUsers()))
      user->erase();
  if (failed(copy->eraseArguments(params)))
    return {};
  simplify(*copy);
  return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<KernelOp>();
}

CallOp DeadOutputs::drop(CallOp call, function_ref<void(Value, Value)> replaced) {
  KernelOp kernel = shapes.kernelOf(call);
  if (!kernel || kernel.isGrid())
    return {};
  llvm::BitVector params(kernel.getNumArguments());
  std::vector<bool> isRead;
  SmallVector<Value> left;
  for (OpResult result : call->getResults()) {
    unsigned param = outputPosition(kernel, result.getResultNumber());
    isRead.push_back(!result.use_empty() || !isOnlyStored(kernel, param));
    if (isRead.back())
      left.push_back(result);
    else
      params.set(param);
  }
  if (left.empty() || params.none())
    return {};
  KernelOp &fewer = known[{kernel, isRead}];
  if (!fewer) {
    OwningOpRef<KernelOp> made = without(kernel, params);
    if (!made)
      return {};
    fewer = *made;
    shapes.symbolTable().insert(made.release(), std::next(kernel->getIterator()));
  }
  OpBuilder builder(call);
  auto now = CallOp::create(builder, call.getLoc(), ValueRange(left).getTypes(), fewer.getSymName(),
                            call.getInputs(), call.getConstNames(), call.getConstValues());
  for (auto [old, result] : llvm::zip(left, now.getResults())) {
    if (StringRef name = nameOfResult(cast<OpResult>(old)); !name.empty())
      nameResult(result, name);
    old.replaceAllUsesWith(result);
    replaced(old, result);
  }
  shapes.add(now);
  return now;
}

void tile::ir::dropDeadOutputs(GraphOp graph, GraphShapes &shapes,
                               function_ref<bool(CallOp)> mayDrop,
                               function_ref<void(CallOp, CallOp)> replaced) {
  DeadOutputs outputs(shapes);
  for (CallOp call : llvm::make_early_inc_range(graph.getBody().getOps<CallOp>())) {
    CallOp fewer = mayDrop(call) ? outputs.drop(call, [](Value, Value) {}) : CallOp();
    if (!fewer)
      continue;
    replaced(call, fewer);
    call.erase();
  }
}

namespace {
class DropDeadOutputsPass : public PassWrapper<DropDeadOutputsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropDeadOutputsPass)

  StringRef getArgument() const override { return "tile-drop-dead-outputs"; }
  StringRef getDescription() const override {
    return "Leaves out of kernels what nobody reads of their results";
  }

  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>()) {
      GraphShapes shapes(graph);
      dropDeadOutputs(
          graph, shapes, [](CallOp) { return true; }, [](CallOp, CallOp) {});
    }
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createDropDeadOutputsPass() {
  return std::make_unique<DropDeadOutputsPass>();
}
