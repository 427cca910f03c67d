//===- Neighbours.cpp - which elements are next to each other -------------===//

#include "codegen/Neighbours.h"
#include "ir/AffineEval.h"

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
  bool areKnown = dims.size() == kernel.getDims().size();
  return lastWithSeveral(shape.getNumResults(), [&](unsigned d) {
    return areKnown && evaluateAffine(shape.getResult(d), {}, dims) == 1;
  });
}
