//===- VerifyLayouts.cpp - what the layouts of a kernel agree on ----------===//

#include "codegen/gpu/schedule/VerifyLayouts.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/LoopFolds.h"
#include "codegen/gpu/loops/RescaledSums.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

static bool isTile(Value value) { return !axesOf(value.getType()).empty(); }

/// Whether a tile with fewer axes is held as it is in the other one.
static bool isProjection(Value part, Value whole) {
  return !isTile(part) ||
         layoutOf(part.getType()) ==
             reordered(layoutOf(whole.getType()), axesOf(whole.getType()), axesOf(part.getType()));
}

SmallVector<unsigned> tile::codegen::gpu::keptAxes(ReduceOp op) {
  SmallVector<unsigned> kept;
  for (auto [n, axis] : llvm::enumerate(axesOf(op.getInput().getType())))
    if (!llvm::is_contained(op.getAxes(), axis))
      kept.push_back(n);
  return kept;
}

bool tile::codegen::gpu::foldsInCluster(ReduceOp op) {
  Layout layout = layoutOf(op.getInput().getType());
  SmallVector<unsigned> kept = keptAxes(op);
  unsigned along = layout.freeBits(Part::Block, kept) & ~layout.freeBits(Part::Block);
  auto loop = op->getParentOfType<ForOp>();
  // Of rescaled sums each thread folds its own until the loop is done.
  bool waits = loop && (waitsForLoop(op) || loop->hasAttr(rescaledAttrName));
  bool isRepeated = loop && (!waits || loop->getParentOfType<ForOp>());
  return along == 0 || (along == layout.numBlocks() - 1 && !isRepeated);
}

LogicalResult tile::codegen::gpu::verifyLayouts(KernelOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(warpsAttrName);
  if (!warps)
    return kernel.emitOpError("needs the attribute ") << warpsAttrName;
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types) {
        if (axesOf(type).empty())
          continue;
        if (!hasLayout(type))
          return op->emitOpError("has a tile without a layout");
        if (layoutOf(type).numWarps() != numWarpsOf(op))
          return op->emitOpError("has a layout of another number of warps than run it");
        if (layoutOf(type).numBlocks() != numBlocks(kernel))
          return op->emitOpError("has a layout of another number of blocks than the kernel");
        for (auto [n, extent] : llvm::enumerate(cast<RankedTensorType>(type).getShape()))
          if (ShapedType::isDynamic(extent) || layoutOf(type).extent(n) < extent)
            return op->emitOpError("has a tile that its layout does not cover");
      }
    if (isa<BroadcastOp>(op) && !isProjection(op->getOperand(0), op->getResult(0)))
      return op->emitOpError("broadcasts a tile that is not held as a part of its result");
    if (isa<ReduceOp, ArgReduceOp>(op) && !isProjection(op->getResult(0), op->getOperand(0)))
      return op->emitOpError("gives a tile that is not held as a part of its operand");
    Value whole;
    if (auto load = dyn_cast<LoadOp>(op))
      whole = load.getResult();
    else if (auto store = dyn_cast<StoreOp>(op))
      whole = store.getValue();
    else if (auto atomic = dyn_cast<AtomicOp>(op))
      whole = atomic.getResult();
    for (Value dim : op->getOperands())
      if (whole && isTile(dim) && !isProjection(dim, whole))
        return op->emitOpError("has an index that is not held as a part of its tile");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
class VerifyLayoutsPass : public PassWrapper<VerifyLayoutsPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyLayoutsPass)

  StringRef getArgument() const override { return "tile-gpu-verify-layouts"; }
  StringRef getDescription() const override { return "Checks that the layouts of tiles agree"; }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(verifyLayouts(kernel)))
        signalPassFailure();
    });
  }
};
} // namespace

std::unique_ptr<Pass> tile::codegen::gpu::createVerifyLayoutsPass() {
  return std::make_unique<VerifyLayoutsPass>();
}
