//===- ShortDims.cpp - dims that code for any length would waste lanes on -===//

#include "codegen/cpu/ShortDims.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// The elements of a vector at most, of 32 bits: code for any length has loops around so few.
static constexpr int64_t oneVector = 16;

/// Gives those dims, by name, of which code for any length would waste lanes, or loop over few
/// rows; and those of one element, behind which neighbours lie elsewhere than code for any
/// length knows.
static SmallVector<NamedAttribute> shortDims(KernelOp kernel, ArrayRef<int64_t> dims) {
  auto isShort = [](int64_t value) { return value >= 1 && value <= oneVector; };
  if (llvm::none_of(dims, isShort))
    return {};
  llvm::SmallDenseSet<Attribute> names;
  for (StringAttr name : dimsOfOpenAxes(kernel))
    names.insert(name);
  for (unsigned n = 0, e = kernel.getNumArguments(); n < e; ++n)
    if (AffineMap shape = kernel.getParamShape(n); shape && shape.getNumResults() > 1)
      if (auto last = dyn_cast<AffineSymbolExpr>(shape.getResults().back()))
        names.insert(kernel.getDims()[last.getPosition()]);
  ParallelOp parallel = kernel.getParallel();
  for (auto [upper, each] : llvm::zip(parallel.getUpper(), parallel.getEach()))
    if (auto dim = upper.getDefiningOp<DimOp>(); dim && !each)
      names.insert(dim.getNameAttr());
  Builder b(kernel.getContext());
  SmallVector<NamedAttribute> found;
  for (auto [name, value] : llvm::zip(kernel.getDims().getAsRange<StringAttr>(), dims))
    if (value == 1 || (isShort(value) && names.contains(name)))
      found.emplace_back(name, b.getI64IntegerAttr(value));
  return found;
}

/// Whether other code for it might make sums in another order than a plan has for them: whether
/// loops make chains of what they add hangs on how often they are known to run
/// (ir/transforms/LongSums.h).
static bool hasPinnedSums(KernelOp kernel) {
  auto isLoop = [](Operation *op) {
    return isa<ForOp, LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel->hasAttr(pinnedAttrName) && kernel.walk(isLoop).wasInterrupted();
}

void tile::codegen::bindShortDims(KernelOp kernel, ArrayRef<int64_t> dims, Bindings &bindings) {
  if (hasPinnedSums(kernel))
    return;
  for (NamedAttribute dim : shortDims(kernel, dims))
    bindings.dims.try_emplace(dim.getName().getValue(), cast<IntegerAttr>(dim.getValue()).getInt());
}

DictionaryAttr tile::codegen::likelyDims(KernelOp kernel, ArrayRef<int64_t> dims) {
  SmallVector<NamedAttribute> found;
  if (hasPinnedSums(kernel))
    found = shortDims(kernel, dims);
  return DictionaryAttr::get(kernel.getContext(), found);
}
