//===- Scratch.cpp - tiles that are kept in scratch memory ----------------===//
//
// Which axis of a kept tile lies last, and how nests write it and read it again.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

Buffer *BodyLowering::newBuffer(Type element, Axes axes) {
  Buffer *buffer = allBuffers.emplace_back(std::make_unique<Buffer>()).get();
  buffer->axes.assign(axes.begin(), axes.end());
  shapes.push_back({buffer->axes, element, {}, 1});
  buffer->memory.element = element;
  buffer->memory.pointer = function.getBody().front().addArgument(b.ptr(), b.getLoc());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(prologue);
  buffer->memory.extents = bufferShape(axes);
  Value stride = b.i64(1);
  buffer->memory.strides.resize(axes.size());
  for (int d = static_cast<int>(axes.size()) - 1; d >= 0; --d) {
    buffer->memory.strides[d] = stride;
    stride = b.mul(stride, buffer->memory.extents[d]);
  }
  return buffer;
}

bool tile::codegen::isReadByDot(Value value) {
  return llvm::any_of(value.getUsers(), llvm::IsaPred<DotOp>);
}

SmallVector<StringAttr> BodyLowering::orderOfKept(Value value) const {
  Axes axes = axesOf(value.getType());
  if (isReadByDot(value)) {
    // Rows are padded to whole vectors: those of one element, of what is multiplied, are one row.
    auto isAdded = [&](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      return dot && dot.getAcc() == value;
    };
    auto last = llvm::find_if(llvm::reverse(axes),
                              [&](StringAttr axis) { return likelyExtentOf(axis) != 1; });
    bool isOne = last != axes.rend() && !llvm::any_of(value.getUsers(), isAdded);
    return isOne ? withLast(axes, *last) : SmallVector<StringAttr>(axes);
  }
  if (axisOfRows(value))
    return withLast(axes, plan.readAcrossAlong(value));
  StringAttr last = axes.back();
  auto isThere = [&](Value read) { return bufferOf(read) != nullptr; };
  auto score = [&](StringAttr axis) {
    int inOrder = 0;
    forEachRead(plan, value, isThere, [&](Value leaf) {
      if (Buffer *buffer = bufferOf(leaf))
        inOrder += buffer->axes.back() == axis;
      else if (auto load = leaf.getDefiningOp<LoadOp>())
        inOrder += isUnitStride(cast<MemRefType>(load.getSource().getType()), load.getMap(),
                                load.getDims(), axis);
    });
    return std::pair(!isShort(axis), inOrder);
  };
  for (StringAttr axis : llvm::reverse(axes))
    if (score(axis) > score(last))
      last = axis;
  return withLast(axes, last);
}

Value BodyLowering::newPanel(Type element, Axes axes, ArrayRef<int64_t> fixed, int64_t multiple) {
  shapes.push_back({SmallVector<StringAttr>(axes), element, SmallVector<int64_t>(fixed), multiple});
  return function.getBody().front().addArgument(b.ptr(), b.getLoc());
}

SmallVector<Lanes> BodyLowering::placeIn(const Buffer &buffer) {
  SmallVector<Lanes> indices;
  for (StringAttr axis : buffer.axes) {
    Lanes index = coordinateOf(axis);
    if (!buffer.ringFrom)
      index.value = b.sub(index.value, rangeOf(axis).first);
    else if (indices.empty()) // a power of two
      index.value = b.fold<arith::AndIOp>(b.sub(index.value, buffer.ringFrom),
                                          b.sub(buffer.memory.extents[0], b.i64(1)));
    else
      index.value = b.i64(0);
    indices.push_back(index);
  }
  return indices;
}

Place BodyLowering::bufferPlace(const Buffer &buffer) {
  return locate(buffer.memory, placeIn(buffer), widthAt(buffer.axes));
}

Value BodyLowering::readBuffer(const Buffer &buffer) {
  Place place = bufferPlace(buffer);
  if (Value lanes = readByElement(buffer, place))
    return lanes;
  // Rows of scratch are padded to whole vectors: only lanes across them need a mask.
  Value mask = place.offset.counts && !buffer.isView ? Value() : tailMask(buffer.axes);
  if (!mask && !buffer.isView)
    if (Value element = readOfRows(buffer.memory, placeIn(buffer), widthAt(buffer.axes)))
      return element;
  return readElements(buffer.memory, place, widthAt(buffer.axes), mask, Value());
}

/// A vector of what was stored element by element, as sums of a few rows are: no single store has
/// all of it, and so a load would wait until each of them, and all that was stored before, has left
/// the core. Null where that wasn't so, of many, and in a loop that would read them again.
Value BodyLowering::readByElement(const Buffer &buffer, const Place &place) {
  constexpr int64_t few = 16;
  int width = widthAt(buffer.axes);
  StringAttr axis = buffer.axes.empty() ? StringAttr() : buffer.axes.back();
  int64_t extent = axis ? extentOf(axis) : 0;
  if (!buffer.isByElement || !place.offset.counts || width == 1 || widthAt(axis) != width ||
      ShapedType::isDynamic(extent) || extent > std::min<int64_t>(few, width))
    return {};
  for (const Level &level : ArrayRef(levels).take_front(levelOf(buffer.axes)))
    if (!level.isPlace && !llvm::is_contained(buffer.axes, level.axis))
      return {};
  Type element = memoryType(buffer.memory.element);
  Value lanes;
  for (int64_t n = 0; n < extent; ++n) {
    Value pointer = b.at(place.pointer, b.add(place.offset.value, b.i64(n)), element);
    Value value = b.loadShared(element, pointer); // LLVM makes no vector of several of these
    lanes = lanes ? b.insert(lanes, value, static_cast<int>(n)) : b.splat(value, width);
  }
  return fromMemory(lanes, buffer.memory.element);
}

void BodyLowering::writeBuffer(Buffer &buffer, Value value) {
  buffer.isByElement = widthAt(buffer.axes) == 1;
  Place place = bufferPlace(buffer);
  Value mask = place.offset.counts ? Value() : tailMask(buffer.axes);
  writeElements(buffer.memory, place, widthAt(buffer.axes), mask, value);
}

void BodyLowering::writeRows(const Memory &memory, SmallVector<Lanes> indices, Values columns) {
  auto level = llvm::find_if(llvm::reverse(levels), [](const Level &l) { return l.width > 1; });
  auto length = static_cast<int64_t>(columns.size());
  Value end; // of the elements that are there, from the first one on
  if (level->laneMask)
    end = b.mul(b.sub(rangeOf(level->axis).second, level->coordinate), b.i64(length));
  for (Lanes &index : indices)
    index.counts = false; // from lane 0 on
  for (Value &column : columns)
    column = toMemory(b.splat(column, level->width), memory.element);
  Place first = locate(memory, indices, 1);
  for (auto [n, vector] : llvm::enumerate(b.transpose(columns))) {
    Value from = b.i64(static_cast<int64_t>(n) * level->width);
    Place place{first.pointer, {b.add(first.offset.value, from), /*counts=*/true}};
    writeVector(memory, place, end ? firstLanes(b.sub(end, from), level->width) : Value(), vector);
  }
}

Value BodyLowering::keptElement(Value value) {
  Value element = emit(value);
  if (!zeroed.contains(value))
    return element;
  Value zero = emitConstant(b, b.getZeroAttr(getElementTypeOrSelf(value.getType())));
  return b.select(restrictMask(axesOf(value.getType())), element, zero);
}

/// With the lanes' axis last, or before a short one: where they go from row to row, all of a row's
/// elements come together. One of a single element would be a loop for each vector.
static void putShortLast(MutableArrayRef<StringAttr> axes,
                         llvm::function_ref<int(StringAttr)> lanes, int most) {
  size_t rank = axes.size();
  if (rank > 1 && lanes(axes[rank - 2]) > 1 && lanes(axes[rank - 2]) < most &&
      lanes(axes[rank - 1]) == most)
    std::swap(axes[rank - 2], axes[rank - 1]);
}

void BodyLowering::keep(Value value, Buffer *into) {
  if (StringAttr rows = axisOfRows(value); rows && into->axes.back() == plan.readAcrossAlong(value))
    return keepAcross(value, into, rows);
  StringAttr vectorAxis = chooseVectorAxis(into->axes, value, std::nullopt, into);
  Axes outer = into->axes;
  StringAttr few = outer.back();
  if (outer.size() > 1 && outer[outer.size() - 2] == vectorAxis &&
      areRowsOfFew(into->memory, vectorAxis, few)) {
    nest(outer.drop_back(), vectorAxis, {}, [&](ValueRange) {
      Values columns;
      for (int n = 0, length = lengthOfFew(into->memory); n < length; ++n)
        at(few, b.i64(n), [&] { columns.push_back(keptElement(value)); });
      at(few, b.i64(0), [&] { writeRows(into->memory, placeIn(*into), columns); });
      return Values();
    });
    return;
  }
  SmallVector<StoreOp> stores = storedAlong(value, into->axes, vectorAxis);
  auto body = [&](ValueRange) {
    writeBuffer(*into, keptElement(value));
    storeAlong(stores);
    return Values();
  };
  SmallVector<StringAttr> axes = withLast(into->axes, vectorAxis);
  int vectors = vectorsFor(vectorAxis, value);
  if (vectors == 1 && vectorAxis)
    putShortLast(
        axes, [&](StringAttr axis) { return lanesAlong(axis); }, target.lanes());
  Operation *maker = value.getDefiningOp();
  bool isMade = maker && !bufferOf(value); // not copied
  withCuts(axes.back(), vectorAxis, isMade ? maker->getOperands() : ValueRange(),
           [&] { return nest(axes, vectorAxis, {}, body, /*unroll=*/nullptr, vectors); });
}
