//===- LoopFolds.cpp - reductions that wait for their loop ----------------===//

#include "codegen/gpu/loops/LoopFolds.h"
#include "codegen/Elementwise.h"
#include "codegen/gpu/dialect/KernelAttributes.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Whether an op joins its two operands as the reduction does.
static bool joins(Operation *op, CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return isa<arith::AddFOp, arith::AddIOp>(op);
  case CombineKind::mul:
    return isa<arith::MulFOp, arith::MulIOp>(op);
  case CombineKind::max:
    return isa<arith::MaximumFOp, arith::MaxSIOp>(op);
  case CombineKind::min:
    return isa<arith::MinimumFOp, arith::MinSIOp>(op);
  case CombineKind::umax:
    return isa<arith::MaxUIOp>(op);
  case CombineKind::umin:
    return isa<arith::MinUIOp>(op);
  case CombineKind::andi:
    return isa<arith::AndIOp>(op);
  case CombineKind::ori:
    return isa<arith::OrIOp>(op);
  case CombineKind::xori:
    return isa<arith::XOrIOp>(op);
  case CombineKind::fmax:
  case CombineKind::fmin:
    return false;
  }
  llvm_unreachable("covered switch");
}

std::pair<ReduceOp, Operation *> tile::codegen::gpu::foldOf(Value yielded, BlockArgument carried) {
  Operation *loop = carried.getOwner()->getParentOp(), *combine = yielded.getDefiningOp();
  // What a thread may keep for itself hangs on what else the sum is for.
  if (loop->getParentOfType<KernelOp>()->hasAttr(fixedOrderAttrName))
    return {};
  if (!combine || combine->getNumOperands() != 2 || !yielded.hasOneUse() || !carried.hasOneUse() ||
      combine->getParentOp() != loop)
    return {};
  unsigned own = combine->getOperand(0) == carried ? 0 : 1;
  auto reduce = combine->getOperand(1 - own).getDefiningOp<ReduceOp>();
  if (combine->getOperand(own) != carried || !reduce || !reduce->hasOneUse() ||
      reduce->getParentOp() != loop || !joins(combine, reduce.getKind()) ||
      isNarrowFloat(getElementTypeOrSelf(reduce.getInput().getType())))
    return {};
  return {reduce, combine};
}

bool tile::codegen::gpu::waitsForLoop(ReduceOp reduce) {
  auto loop = dyn_cast<ForOp>(reduce->getParentOp());
  return loop &&
         llvm::any_of(llvm::zip(loop.getYield().getOperands(), loop.getCarried()), [&](auto pair) {
           auto [yielded, carried] = pair;
           return foldOf(yielded, carried).first == reduce;
         });
}

bool tile::codegen::gpu::isSumOfFloats(ReduceOp op) {
  return op.getKind() == CombineKind::add &&
         isa<FloatType>(getElementTypeOrSelf(op.getInput().getType()));
}
