//===- HostIndex.cpp - indices of a kernel, and names of its spans --------===//

#include "ir/fusion/ShortNames.h"
#include "ir/fusion/Transplant.h"

using namespace mlir;
using namespace tile::ir;

HostIndex HostIndex::ofSpan(Value span) {
  return {getAffineDimExpr(0, span.getContext()), {span}, {}};
}

HostIndex HostIndex::ofInteger(Value integer) {
  return {getAffineSymbolExpr(0, integer.getContext()), {}, {integer}};
}

Value HostIndex::asOperand() const {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? dims[dim.getPosition()] : Value();
}

Value HostIndex::asSpan() const {
  Value operand = asOperand();
  return operand && isa<SpanType>(operand.getType()) ? operand : Value();
}

bool HostIndex::isInteger() const {
  bool reads = false;
  expr.walk([&](AffineExpr part) { reads |= isa<AffineDimExpr>(part); });
  return !reads;
}

bool HostIndex::hasData() const {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      found |= !isa<SpanType>(dims[dim.getPosition()].getType());
  });
  return found;
}

AxisList HostIndex::axes() const {
  return mapAxes(AffineMap::get(dims.size(), syms.size(), expr), dims);
}

static unsigned positionOf(Value value, SmallVector<Value> &list) {
  auto *found = llvm::find(list, value);
  unsigned position = found - list.begin();
  if (found == list.end())
    list.push_back(value);
  return position;
}

AffineExpr IndexOperands::add(const HostIndex &index) {
  SmallVector<AffineExpr> newDims(index.dims.size()), newSyms(index.syms.size());
  index.expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      newDims[dim.getPosition()] =
          getAffineDimExpr(positionOf(index.dims[dim.getPosition()], dims), context);
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      newSyms[symbol.getPosition()] =
          getAffineSymbolExpr(positionOf(index.syms[symbol.getPosition()], syms), context);
  });
  return index.expr.replaceDimsAndSymbols(newDims, newSyms);
}

SpanNames::SpanNames(KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    auto add = [&](Value value) {
      if (auto span = dyn_cast<SpanType>(value.getType()))
        taken.insert(span.getName().getValue());
    };
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), add);
    if (auto parallel = dyn_cast<ParallelOp>(op))
      for (StringAttr name : parallel.getNames().getAsRange<StringAttr>())
        taken.insert(name.getValue());
  });
}

StringAttr SpanNames::fresh(StringAttr wanted) {
  std::string name = freshName(wanted, [&](StringRef name) { return taken.contains(name); });
  taken.insert(name);
  return StringAttr::get(wanted.getContext(), name);
}
