//===- ValueFacts.cpp - what can be said of single values and ops ---------===//

#include "codegen/gpu/loops/ValueFacts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

bool tile::codegen::gpu::isElementwise(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() || isa<arith::SelectOp>(op)) &&
         op->getNumRegions() == 0;
}

bool tile::codegen::gpu::isRepeatable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->getParentOfType<ParallelOp>())
    return true;
  auto load = dyn_cast<LoadOp>(op);
  bool isElement = load && axesOf(load.getType()).empty() && isa<BlockArgument>(load.getSource());
  bool isNumber = isa<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
                  axesOf(value.getType()).empty();
  return (isElement || isNumber || isa<DimOp>(op)) && llvm::all_of(op->getOperands(), isRepeatable);
}

bool tile::codegen::gpu::isZero(Value init) {
  if (auto broadcast = init.getDefiningOp<BroadcastOp>())
    init = broadcast.getInput();
  return matchPattern(init, m_PosZeroFloat()) || matchPattern(init, m_Zero());
}

bool tile::codegen::gpu::isReadFirst(Value tensor, Operation *loop) {
  SmallVector<Operation *> reads, writes;
  for (Operation *user : tensor.getUsers()) {
    if (user->getBlock() != loop->getBlock())
      return false;
    (isa<LoadOp>(user) ? reads : writes).push_back(user);
  }
  return llvm::all_of(writes, [&](Operation *write) {
    return loop->isBeforeInBlock(write) &&
           llvm::all_of(reads, [&](Operation *read) { return read->isBeforeInBlock(write); });
  });
}

bool tile::codegen::gpu::isOfDot(Value value) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<DotOp>(op))
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

bool tile::codegen::gpu::isMovable(Operation *op, Operation *loop, KernelOp kernel) {
  if (op->getNumRegions() > 0 || op->use_empty())
    return false;
  auto load = dyn_cast<LoadOp>(op);
  auto source = load ? dyn_cast<BlockArgument>(load.getSource()) : BlockArgument();
  return source ? kernel.getParamMode(source.getArgNumber()) == ParamMode::In ||
                      isReadFirst(source, loop)
                : isMemoryEffectFree(op);
}

/// What elementwise ops make of constants; null where that isn't known.
static Attribute foldedOf(Value value, llvm::function_ref<bool(LoadOp)> isZero,
                          llvm::DenseMap<Value, Attribute> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  Attribute result;
  auto splat = [&](Attribute element) -> Attribute {
    return tile && tile.hasStaticShape() && element ? DenseElementsAttr::get(tile, element)
                                                    : element;
  };
  if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1) {
    return known[value] = {};
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    if (isZero(load))
      result = splat(Builder(op).getZeroAttr(getElementTypeOrSelf(value.getType())));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Attribute element = foldedOf(broadcast.getInput(), isZero, known);
    if (auto elements = dyn_cast_or_null<SplatElementsAttr>(element))
      element = elements.getSplatValue<Attribute>();
    result = splat(element);
  } else if (!matchPattern(op, m_Constant(&result)) && isMemoryEffectFree(op)) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(foldedOf(operand, isZero, known));
    // Folding may change an op in its place.
    OwningOpRef<Operation *> copy = op->clone();
    SmallVector<OpFoldResult> results;
    if (succeeded(copy->fold(operands, results)) && results.size() == 1) {
      result = dyn_cast<Attribute>(results[0]);
      auto same = dyn_cast<Value>(results[0]);
      for (auto [operand, attribute] : llvm::zip(op->getOperands(), operands))
        if (same && same == operand)
          result = attribute;
    }
  }
  return known[value] = result;
}

Attribute tile::codegen::gpu::valueOfZeros(Value value, llvm::function_ref<bool(LoadOp)> isZero) {
  llvm::DenseMap<Value, Attribute> known;
  Attribute number = foldedOf(value, isZero, known);
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(number))
    number = elements.getSplatValue<Attribute>();
  return number;
}

bool tile::codegen::gpu::isFiniteOfZeros(Value value, llvm::function_ref<bool(LoadOp)> isZero) {
  Attribute number = valueOfZeros(value, isZero);
  auto real = dyn_cast_or_null<FloatAttr>(number);
  return real ? real.getValue().isFinite() : isa_and_nonnull<IntegerAttr>(number);
}

bool tile::codegen::gpu::isZeroOfZeros(Value value, llvm::function_ref<bool(LoadOp)> isZero) {
  auto real = dyn_cast_or_null<FloatAttr>(valueOfZeros(value, isZero));
  return real && real.getValue().isZero();
}

void tile::codegen::gpu::collectDims(Value value, llvm::SetVector<StringRef> &names) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (auto dim = dyn_cast<DimOp>(op))
    names.insert(dim.getName());
  for (Value operand : op->getOperands())
    collectDims(operand, names);
}

bool tile::codegen::gpu::hasWholeRows(DotOp dot) {
  ArrayRef<StringAttr> sums = axesOf(dot.getType());
  bool isWhole = false;
  dot->getParentOfType<KernelOp>().walk([&](AxisOp axis) {
    isWhole |= axis.getSpan().getType().getExtent() != 1 &&
               llvm::is_contained(sums, axis.getSpan().getType().getName());
  });
  return isWhole && sums.size() > 1;
}
