//===- EmitStore.cpp - stores and updates ---------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// The value and the tiles among the indices.
template <typename OpT>
static SmallVector<Value> pulledBy(OpT op) {
  SmallVector<Value> pulled(1, op.getValue());
  for (Value dim : op.getDims())
    if (!isa<SpanType>(dim.getType()))
      pulled.push_back(dim);
  return pulled;
}

template <typename OpT>
static MemRefType typeOfTarget(OpT op) {
  return cast<MemRefType>(op.getTarget().getType());
}

Value BodyLowering::mayStream(StoreOp op, const Memory &memory, StringAttr vectorAxis) {
  Type element = memoryType(memory.element);
  // Streamed stores are late, for other programs too.
  if (target.sanitizes || memory.isShared || !vectorAxis ||
      !isUnitStride(typeOfTarget(op), op.getMap(), op.getDims(), vectorAxis) ||
      !domains.restrictsOn(mapAxes(op.getMap(), op.getDims()).names).empty())
    return {};
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  Value isLarge;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    // Of which products are bytes of a tensor: they don't overflow.
    Value bytes = b.i64(elementBytes);
    for (Value extent : memory.extents)
      bytes = b.mul(bytes, extent);
    isLarge = b.compare(arith::CmpIPredicate::sge, bytes, b.i64(target.streamedBytes));
  }
  Value isAligned;
  at(vectorAxis, rangeOf(vectorAxis).first, [&] {
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    Place place = locate(memory, indices, 1);
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(),
                                             b.at(place.pointer, place.offset.value, element));
    Value rest =
        b.fold<arith::AndIOp>(address, b.i64(elementBytes * target.lanes() - 1)); // a power of two
    isAligned = b.compare(arith::CmpIPredicate::eq, rest, b.i64(0));
  });
  return b.both(isLarge, isAligned);
}

void BodyLowering::emitStore(StoreOp op) {
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  StringAttr vectorAxis = chooseVectorAxis(
      axes.names, pulledBy(op), Access{typeOfTarget(op), op.getMap(), op.getDims()}, nullptr);
  Memory memory = memoryOf(op.getTarget());
  auto row = [&](bool streamed) {
    auto [lo, hi] = rangeOf(vectorAxis);
    auto body = [&](ValueRange) {
      storeElement(op, memory, streamed && !levels.back().laneMask);
      return Values();
    };
    level(vectorAxis, lo, hi, target.lanes(), {}, body, /*unroll=*/nullptr,
          vectorsFor(vectorAxis, pulledBy(op)));
    return Values();
  };
  SmallVector<StringAttr> outer = withLast(axes.names, vectorAxis);
  if (vectorAxis)
    outer.pop_back();
  nest(outer, StringAttr(), {}, [&](ValueRange) {
    if (!vectorAxis) {
      storeElement(op, memory, false);
      return Values();
    }
    Value mayStreamHere = mayStream(op, memory, vectorAxis);
    if (!mayStreamHere)
      return row(false);
    streams = true;
    auto path = [&](bool streamed) {
      apart([&] { row(streamed); });
      return Values();
    };
    return b.branch(
        mayStreamHere, [&] { return path(true); }, [&] { return path(false); });
  });
}

void BodyLowering::storeElement(StoreOp op, const Memory &memory, bool streamed) {
  SmallVector<StringAttr> axes = mapAxes(op.getMap(), op.getDims()).names;
  int width = widthAt(axes);
  Value value = emit(op.getValue());
  SmallVector<Lanes> indices =
      indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
  Place place = locate(memory, indices, width);
  if (streamed) {
    value = toMemory(b.splat(value, width), memory.element);
    b.storeStreamed(value, b.at(place.pointer, place.offset.value, memoryType(memory.element)));
  } else {
    Value mask = watched(op, indices, domainMask(axes));
    if (op.getDrops())
      mask = b.both(mask, insideOf(memory, indices, width,
                                   provedInside(op.getTarget(), op.getMap(), op.getDims())));
    writeElements(memory, place, width, mask, value);
  }
}

void BodyLowering::emitUpdate(UpdateOp op) {
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  // Lanes of one vector must go to different elements.
  SmallVector<StringAttr> candidates;
  for (StringAttr axis : axes.names)
    if (isUnitStride(typeOfTarget(op), op.getMap(), op.getDims(), axis))
      candidates.push_back(axis);
  StringAttr vectorAxis = chooseVectorAxis(
      candidates, pulledBy(op), Access{typeOfTarget(op), op.getMap(), op.getDims()}, nullptr);
  Memory memory = memoryOf(op.getTarget());
  // What halves are combined in is f32, and what floats are added in f64 (CpuEntry.h).
  auto narrow = isNarrowFloat(memory.element) ? cast<FloatType>(memory.element) : FloatType();
  bool isWide = op.getKind() == CombineKind::add && isa<FloatType>(memory.element);
  bool isWidened = isWide && !memory.element.isF64();
  if (narrow)
    memory.element = b.getF32Type();
  if (isWide)
    memory.element = b.getF64Type();
  llvm::BitVector proved = provedInside(op.getTarget(), op.getMap(), op.getDims());
  nest(withLast(axes.names, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(axes.names);
    Value value = emit(op.getValue());
    if (narrow)
      value = widenToF32(b, target, value, narrow);
    if (isWidened)
      value = arith::ExtFOp::create(b, lanesOf(memory.element, widthOf(value)), value);
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    // What falls outside is dropped.
    Value mask = watched(op, indices, domainMask(axes.names));
    mask = b.both(mask, insideOf(memory, indices, width, proved));
    Place place = locate(memory, indices, width);
    Value old = readElements(memory, place, width, mask, Value());
    writeElements(memory, place, width, mask,
                  emitCombine(b, target, op.getKind(), memory.element, old, value));
    return Values();
  });
}

void ScalarLowering::emitFinish(FinishOp op) {
  Memory memory = memoryOf(op.getOutput());
  Value count = b.i64(1);
  for (Value extent : memory.extents)
    count = b.mul(count, extent);
  auto finish = [&](Value first, Value end, int width) {
    b.loop(first, end, b.i64(width), {}, [&](Value element, ValueRange) {
      Place place{memory.pointer, {element, /*counts=*/true}};
      Value sums = readElements(memory, place, width, Value(), Value());
      Value result = emitCombination(b, target, op.getBody().front(), sums,
                                     [&](Value outer) { return scalar(outer); })[0];
      writeElements(memory, place, width, Value(), result);
      return CodeBuilder::Values();
    });
  };
  Value whole = b.fold<arith::AndIOp>(count, b.i64(-int64_t(target.lanes())));
  finish(b.i64(0), whole, target.lanes());
  finish(whole, count, 1);
}
