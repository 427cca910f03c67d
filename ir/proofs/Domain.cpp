//===- Domain.cpp - axes and domains of one kernel ------------------------===//

#include "ir/proofs/Domain.h"

using namespace mlir;
using namespace tile::ir;

Domains::Domains(KernelOp kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto restrict = dyn_cast<RestrictOp>(op))
      restricts.push_back(restrict);
    for (Value result : op->getResults())
      if (isa<SpanType>(result.getType()))
        spans[axisOf(result)] = result;
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isa<SpanType>(argument.getType()))
          spans[axisOf(argument)] = argument;
  });
}

std::pair<Value, Value> Domains::boundsOf(StringRef axis) const {
  Value span = spanOf(axis);
  if (auto whole = span.getDefiningOp<AxisOp>())
    return {whole.getLower(), whole.getUpper()};
  auto argument = cast<BlockArgument>(span);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<ForOp>(parent))
    return {loop.getLower(), loop.getUpper()};
  auto parallel = cast<ParallelOp>(parent);
  unsigned n = argument.getArgNumber();
  return {parallel.getLower()[n], parallel.getUpper()[n]};
}

SmallVector<RestrictOp> Domains::restrictsOn(ArrayRef<StringAttr> axes) const {
  SmallVector<RestrictOp> result;
  for (RestrictOp restrict : restricts)
    if (llvm::all_of(restrict.getDims(),
                     [&](Value span) { return llvm::is_contained(axes, axisOf(span)); }))
      result.push_back(restrict);
  return result;
}

SmallVector<RestrictOp> Domains::restrictsOf(ForOp loop) const {
  SmallVector<RestrictOp> result;
  for (RestrictOp restrict : restricts)
    if (restrict->getParentOp() == loop && llvm::is_contained(restrict.getDims(), loop.getSpan()))
      result.push_back(restrict);
  return result;
}

bool Domains::isBlock(StringRef axis) const {
  Value span = spanOf(axis);
  return span && !span.getDefiningOp<AxisOp>();
}
