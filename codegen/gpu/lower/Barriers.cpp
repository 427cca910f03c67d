//===- Barriers.cpp - where threads wait for each other -------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/lower/InlineAsm.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

void Barriers::meet() {
  auto constant = [&](unsigned value) { return b.integer(b.getI32Type(), value); };
  if (number == 0)
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                  ValueRange{constant(0)});
  else // of the warps of one role
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.count"),
                                  ValueRange{constant(number), constant(ctx.warps * 32)});
  for (auto &[memory, made] : accesses)
    made.isRead = made.isWritten = false;
}

void Barriers::meetBlocks(StringRef order) {
  inlineAsm(
      b, Type(), {},
      ("barrier.cluster.arrive." + order + ".aligned;\n\tbarrier.cluster.wait.acquire.aligned;")
          .str(),
      "~{memory}", true);
}

//===-- The order of accesses ---------------------------------------------===//

/// A tensor that an access goes to; null: none.
static Value accessed(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getSource();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getTarget();
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return atomic.getTarget();
  return {};
}

void Barriers::findContended() {
  if (!ctx.kernel.isGrid())
    return;
  ctx.kernel.walk([&](Operation *op) {
    Value memory = accessed(op);
    if (!memory ||
        ctx.kernel.getParamMode(cast<BlockArgument>(memory).getArgNumber()) == ParamMode::In)
      return;
    // Single elements are all the first thread's, which keeps its own order.
    bool hasTiles =
        llvm::any_of(op->getResults(), isTile) || llvm::any_of(op->getOperands(), isTile);
    accesses[memory].byTiles |= hasTiles;
  });
}

void Barriers::assumeAccesses() {
  for (auto &[memory, made] : accesses)
    made.isRead = made.isWritten = true;
}

void Barriers::order(Value memory, bool writes) {
  auto found = accesses.find(memory);
  if (found == accesses.end() || !found->second.byTiles)
    return;
  if (found->second.isWritten || (writes && found->second.isRead))
    meet();
  (writes ? found->second.isWritten : found->second.isRead) = true;
}
