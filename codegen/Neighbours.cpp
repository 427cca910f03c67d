//===- Neighbours.cpp - which elements are next to each other -------------===//

#include "codegen/Neighbours.h"
#include "ir/dialect/AffineEval.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// The last of so many dimensions that is not of one element.
static unsigned lastWithSeveral(int64_t rank, llvm::function_ref<bool(unsigned)> hasOne) {
  unsigned last = static_cast<unsigned>(std::max<int64_t>(1, rank)) - 1;
  while (last > 0 && hasOne(last))
    --last;
  return last;
}

unsigned tile::codegen::innermostDimension(MemRefType type) {
  return lastWithSeveral(type.getRank(), [&](unsigned d) { return type.getDimSize(d) == 1; });
}

unsigned tile::codegen::innermostDimension(KernelOp kernel, Value parameter,
                                           ArrayRef<int64_t> dims) {
  AffineMap shape = kernel.getParamShape(cast<BlockArgument>(parameter).getArgNumber());
  auto isKnown = [&](AffineExpr extent) {
    bool known = true;
    extent.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineSymbolExpr>(part))
        known &= dim.getPosition() < dims.size() && dims[dim.getPosition()] >= 0;
    });
    return known;
  };
  return lastWithSeveral(shape.getNumResults(), [&](unsigned d) {
    AffineExpr extent = shape.getResult(d);
    return isKnown(extent) && evaluateAffine(extent, {}, dims) == 1;
  });
}
