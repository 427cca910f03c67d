//===- Scalars.cpp - what has no axes -------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

void ScalarLowering::bindArrays(Value params, Value dimArray, ValueRange tensors) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(prologue);
  for (size_t n = 0; n < kernel.getDims().size(); ++n)
    dims.push_back(b.load(b.getI64Type(), b.at(dimArray, b.i64(n), b.getI64Type()), true));
  unsigned nextTensor = 0;
  for (auto [n, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    bool isTensor = isa<MemRefType>(argument.getType());
    Value pointer = isTensor && !tensors.empty()
                        ? tensors[nextTensor++]
                        : b.load(b.ptr(), b.at(params, b.i64(n), b.ptr()), true);
    if (!isTensor) {
      Type type = argument.getType();
      scalars[argument] = fromMemory(b.load(memoryType(type), pointer, true), type);
      continue;
    }
    auto type = cast<MemRefType>(argument.getType());
    Memory &memory = memories[argument];
    memory.pointer = pointer;
    memory.element = type.getElementType();
    memory.isInvariant = kernel.getParamMode(n) == ParamMode::In;
    memory.isShared = kernel.isGrid() && !memory.isInvariant;
    for (auto [d, expr] : llvm::enumerate(kernel.getParamShape(n).getResults()))
      memory.extents.push_back(type.isDynamicDim(d) ? evaluate(expr, {}, dims).value
                                                    : b.i64(type.getDimSize(d)));
    Value stride = b.i64(1);
    memory.strides.resize(memory.extents.size());
    for (int d = static_cast<int>(memory.extents.size()) - 1; d >= 0; --d) {
      memory.strides[d] = stride;
      stride = b.mul(stride, memory.extents[d]);
    }
  }
}

Memory ScalarLowering::memoryOf(Value parameter) { return memories.lookup(parameter); }

bool ScalarLowering::isEntryValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<KernelOp>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (isa<KernelOp>(op->getParentOp()))
    return true;
  // What stands under a condition may be read there only.
  return axesOf(value.getType()).empty() && isMemoryEffectFree(op) && !isa<LoadOp>(op) &&
         op->getNumRegions() == 0 && !Plan::isRoot(op) &&
         llvm::all_of(op->getOperands(), isEntryValue);
}

Value ScalarLowering::scalar(Value value) {
  if (Value known = scalars.lookup(value))
    return known;
  assert(isEntryValue(value) && "scalars of the body are emitted in order");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(prologue);
  emitScalar(value.getDefiningOp());
  return scalars.lookup(value);
}

void ScalarLowering::emitScalar(Operation *op) {
  Value result = op->getResult(0);
  if (auto dim = dyn_cast<DimOp>(op)) {
    auto found = llvm::find(kernel.getDims(), dim.getNameAttr());
    scalars[result] = dims[found - kernel.getDims().begin()];
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    scalars[result] = emitConstant(b, constant.getValue());
  } else if (auto load = dyn_cast<LoadOp>(op)) {
    auto dimValue = [&](Value dim) -> Lanes {
      Value index = scalar(dim);
      return {index.getType().isInteger(64)
                  ? index
                  : Value(arith::ExtSIOp::create(b, b.getI64Type(), index))};
    };
    scalars[result] = emitLoad(load, dimValue, 1, Value());
  } else {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return scalar(operand); });
    scalars[result] = emitElementwise(b, target, op, operands);
  }
}

//===-- Extents -----------------------------------------------------------===//

std::pair<Value, Value> ScalarLowering::wholeRange(StringRef axis) {
  auto [lower, upper] = domains.boundsOf(axis);
  Value lo = scalar(lower);
  return {lo, b.maxS(lo, scalar(upper))};
}

Value ScalarLowering::lengthOf(StringRef axis) {
  auto [lower, upper] = wholeRange(axis);
  return b.sub(upper, lower);
}

Value ScalarLowering::extentBound(StringAttr axis) {
  auto [lower, upper] = domains.boundsOf(axis.getValue());
  bool isKnown = isEntryValue(lower) && isEntryValue(upper);
  Value span = domains.spanOf(axis.getValue());
  int64_t extent = cast<SpanType>(span.getType()).getExtent();
  if (domains.isBlock(axis.getValue()))
    return isKnown ? b.minS(lengthOf(axis.getValue()), b.i64(extent)) : b.i64(extent);
  if (!ShapedType::isDynamic(extent))
    return b.i64(extent);
  if (!isKnown) {
    if (!failed) {
      auto diagnostic = emitError(span.getLoc())
                        << "the length of axis `" << axis.getValue()
                        << "` depends on data, so there is no telling how much memory it needs";
      diagnostic.attachNote(span.getLoc())
          << "hint: loop over it in blocks: `for " << axis.getValue() << " in tiles(lo..hi)`";
    }
    failed = true;
    return b.i64(0);
  }
  // Longer ones are no tensor's; products of two extents then fit 128 bits.
  return b.minS(lengthOf(axis.getValue()), b.i64(int64_t(1) << 60));
}

int64_t ScalarLowering::likelyExtentOf(StringAttr axis) const {
  return tile::codegen::likelyExtentOf(kernel, domains, axis);
}

int ScalarLowering::lanesAlong(StringAttr axis) const {
  auto [lower, upper] = domains.boundsOf(axis);
  llvm::APInt first, last;
  bool isKnown =
      matchPattern(lower, m_ConstantInt(&first)) && matchPattern(upper, m_ConstantInt(&last));
  int64_t extent = isKnown ? likelyExtentOf(axis) : target.lanes();
  return static_cast<int>(std::min<int64_t>(
      target.lanes(), llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max<int64_t>(1, extent)))));
}

SmallVector<Value> ScalarLowering::bufferShape(ArrayRef<StringAttr> axes, int64_t multiple) {
  SmallVector<Value> extents =
      llvm::map_to_vector(axes, [&](StringAttr axis) { return extentBound(axis); });
  if (!extents.empty()) {
    // A short last axis has all its room, so that strides are constants.
    constexpr int64_t isShort = 1024;
    int64_t extent = cast<SpanType>(domains.spanOf(axes.back().getValue()).getType()).getExtent();
    bool isKnown = matchPattern(extents.back(), m_Constant());
    if (!isKnown && !ShapedType::isDynamic(extent) && extent <= isShort)
      extents.back() = b.i64(extent);
    int64_t lanes =
        std::max<int64_t>({fewestLanes, lanesAlong(axes.back()), multiple}); // powers of two
    extents.back() = b.fold<arith::AndIOp>(b.add(extents.back(), b.i64(lanes - 1)), b.i64(-lanes));
    // Long rows lie apart by no multiple of many lines, of f32 by an odd number of them: all would
    // fall on few sets of a cache.
    constexpr int64_t longRow = 512, oddly = 16; // elements
    if (axes.size() > 1 && multiple == 1) {
      Value row = extents.back(), isLong = b.compare(CmpIPredicate::sge, row, b.i64(longRow));
      extents.back() = b.select(isLong, b.fold<arith::OrIOp>(row, b.i64(oddly)), row);
    }
  }
  return extents;
}
