//===- KeepAcross.cpp - blocks read along one axis and used along another -===//
//
// As many vectors of a block as they have lanes are transposed in registers: what
// uses the block then finds its own lanes next to each other. Gathered, each lane
// would be a load of its own.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using Values = CodeBuilder::Values;

Values BodyLowering::readAcross(StringAttr axis, Value from, Value end, int count,
                                llvm::function_ref<Value()> element) {
  Values vectors;
  Value last = b.sub(end, b.i64(1));
  for (int t = 0; t < count; ++t)
    // Behind the end: the last one again.
    at(axis, b.minS(b.add(from, b.i64(t)), last), [&] { vectors.push_back(element()); });
  return b.transpose(vectors);
}

StringAttr BodyLowering::axisOfRows(Value value) const {
  StringAttr inner = plan.readAcrossAlong(value);
  auto load = value.getDefiningOp<LoadOp>();
  // Memory has no vectors of bits; where an index is clamped, lanes are gathered anyway; and
  // squares of vectors that take two registers each gain nothing.
  Type element = getElementTypeOrSelf(value.getType());
  if (!load || !inner || element.isInteger(1) || load.getBounds() == BoundsMode::clamp ||
      lanesAlong(inner) == 1 ||
      lanesAlong(inner) * static_cast<int>(element.getIntOrFloatBitWidth()) > target.vectorBits)
    return {};
  for (StringAttr axis : axesOf(value.getType()))
    if (axis != inner && lanesAlong(axis) == lanesAlong(inner) &&
        isUnitStride(cast<MemRefType>(load.getSource().getType()), load.getMap(), load.getDims(),
                     axis))
      return axis;
  return {};
}

bool BodyLowering::isInput(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && memoryOf(load.getSource()).isInvariant;
}

bool BodyLowering::readsRows(Value value) {
  StringAttr rows = axisOfRows(value);
  return rows && widthAt(rows) > 1 && isInput(value);
}

void BodyLowering::keepAcross(Value value, Buffer *into, StringAttr rows) {
  StringAttr inner = into->axes.back();
  int width = lanesAlong(inner);
  SmallVector<StringAttr> outer;
  for (StringAttr axis : into->axes)
    if (axis != inner && axis != rows)
      outer.push_back(axis);
  auto [lo, hi] = rangeOf(inner);
  auto [otherLo, otherHi] = rangeOf(rows);
  auto square = [&](Value from) {
    Values columns =
        readAcross(inner, from, hi, width, [&] { return b.splat(keptElement(value), width); });
    Value place = b.sub(coordinateOf(rows).value, otherLo);
    Value last = b.sub(b.sub(otherHi, otherLo), b.i64(1));
    // Lanes behind the end go where the last row is, which is written after them. What is behind
    // the end of a row is there to be written.
    for (int t = width - 1; t >= 0; --t) {
      SmallVector<Lanes> indices;
      for (StringAttr axis : into->axes)
        indices.push_back({axis == inner  ? b.sub(from, lo)
                           : axis == rows ? b.minS(b.add(place, b.i64(t)), last)
                                          : b.sub(coordinateOf(axis).value, rangeOf(axis).first)});
      Place at = locate(into->memory, indices, 1);
      b.store(columns[t], b.at(at.pointer, at.offset.value, memoryType(into->memory.element)));
    }
  };
  nest(outer, StringAttr(), {}, [&](ValueRange) {
    return b.loop(lo, hi, b.i64(width), {}, [&](Value from, ValueRange) {
      apart([&] {
        level(rows, otherLo, otherHi, width, {}, [&](ValueRange) {
          square(from);
          return Values();
        });
      });
      return Values();
    });
  });
}

void BodyLowering::withTurned(ValueRange pulled, StringAttr inner,
                              llvm::function_ref<void()> emit) {
  constexpr int64_t longEnough = 16;
  auto isLong = [&](StringAttr axis) {
    int64_t extent = extentOf(axis);
    return !ShapedType::isDynamic(extent) && extent >= longEnough &&
           lanesAlong(axis) == target.lanes();
  };
  auto liesAcross = [&](const Buffer &buffer) {
    StringAttr rows = buffer.axes.empty() ? StringAttr() : buffer.axes.back();
    int bits = static_cast<int>(buffer.memory.element.getIntOrFloatBitWidth());
    return rows && rows != inner && !buffer.isView && !buffer.ringFrom && bits > 1 &&
           bits * target.lanes() <= target.vectorBits && isLong(rows) &&
           llvm::is_contained(buffer.axes, inner);
  };
  llvm::MapVector<Value, Buffer *> across;
  if (inner && target.lanes() > 1 && isLong(inner))
    for (Value value : pulled)
      plan.forEachPulled(value, [&](Value next) {
        bool isReadInOrder = axisOfRows(next) == inner && isInput(next);
        if (Buffer *buffer = bufferOf(next); buffer && !isReadInOrder && liesAcross(*buffer))
          across.insert({next, buffer});
      });
  for (auto [value, buffer] : across) {
    Buffer *turned = newBuffer(buffer->memory.element, withLast(buffer->axes, inner));
    keepAcross(value, turned, buffer->axes.back());
    buffers[value] = turned;
  }
  emit();
  for (auto [value, buffer] : across)
    buffers[value] = buffer;
}
