//===- CollidingRows.cpp - rows that push each other out of the caches ----===//
//
// A program that goes through a block of columns more than once finds it in its
// core's cache the second time, unless rows lie apart by a multiple of a large
// power of two: all of them then fall on few of the cache's sets. Or each row is
// on a page of its own, and there are more than the core remembers translations
// of: then each waits for one again. Such a block is copied first, row by row;
// other nests read the tensor as it lies there. A launch shows which it is: both
// are one buffer, with another pointer and other strides.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

/// `stride`: how many elements rows are apart.
Value BodyLowering::rowsCollide(const Memory &tensor, const Buffer &copy, Value stride) {
  // Neighbouring pages have their translations next to each other, and are asked for ahead.
  constexpr int64_t apart = 2 * 4096, translations = 1536;
  Value bytes = b.i64(memoryType(tensor.element).getIntOrFloatBitWidth() / 8);
  Value rows = b.i64(1);
  for (Value extent : ArrayRef(copy.memory.extents).drop_back())
    rows = b.mul(rows, extent);
  Value distance = b.mul(stride, bytes);
  // Of each of the sets that rows fall on as many lines have room as of any other.
  Value power = b.fold<arith::AndIOp>(distance, b.sub(b.i64(0), distance));
  Value exceedsSets =
      b.compare(CmpIPredicate::sgt, b.mul(rows, power), b.i64(target.coreCacheBytes));
  Value exceedsPages = b.both(b.compare(CmpIPredicate::sge, distance, b.i64(apart)),
                              b.compare(CmpIPredicate::sgt, rows, b.i64(translations)));
  Value copied = b.mul(b.mul(rows, copy.memory.extents.back()), bytes);
  Value hasRoom = b.compare(CmpIPredicate::sle, copied, b.i64(shapes.back().mostBytes));
  return b.both(b.either(exceedsSets, exceedsPages), hasRoom);
}

void BodyLowering::copyIfRowsCollide(LoadOp load) {
  Memory tensor = memoryOf(load.getSource());
  SmallVector<StringAttr> axes = orderOfKept(load.getResult());
  StringAttr inner = axes.back();
  if (target.lanes() == 1 || lanesAlong(inner) < target.lanes() || !tensor.isInvariant ||
      !isUnitStride(cast<MemRefType>(load.getSource().getType()), load.getMap(), load.getDims(),
                    inner))
    return;
  Buffer *copy = newBuffer(tensor.element, axes);
  shapes.back().mostBytes = int64_t(4) << 20; // longer ones would leave the caches, too
  SmallVector<Value> strides(axes.size(), b.i64(1));
  Value stride, collide;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    for (auto [d, expr] : llvm::enumerate(load.getMap().getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        auto axis = llvm::find(axes, axisOf(load.getDims()[dim.getPosition()]));
        strides[axis - axes.begin()] = tensor.strides[d];
        if (*axis != inner)
          stride = tensor.strides[d];
      }
    collide = rowsCollide(tensor, *copy, stride);
    for (auto [own, ofTensor] : llvm::zip(copy->memory.strides, strides))
      ofTensor = b.select(collide, own, ofTensor);
  }
  auto copyRows = [&] {
    apart([&] {
      nest(axes, inner, {}, [&](ValueRange) {
        writeBuffer(*copy, emit(load.getResult()));
        return Values();
      });
    });
    return Values();
  };
  b.branch(collide, copyRows, [] { return Values(); });
  SmallVector<Lanes> first =
      indicesOf(load.getMap(), load.getDims(), load.getSyms(),
                [&](Value dim) { return Lanes{rangeOf(axisOf(dim)).first}; });
  Place origin = locate(tensor, first, 1);
  Value block = b.at(origin.pointer, origin.offset.value, memoryType(tensor.element));
  copy->memory.pointer = b.select(collide, copy->memory.pointer, block);
  copy->memory.strides = strides;
  copy->isView = true;
  buffers[load.getResult()] = copy;
}
