//===- CollidingRows.cpp - rows that push each other out of the caches ----===//
//
// A program that goes through a block of columns more than once finds it in its
// core's cache the second time, unless rows lie apart by a multiple of a large
// power of two: all of them then fall on few of the cache's sets. Or each row is
// on a page of its own, and there are more than the core has translations of:
// each then waits for one again. There the block is copied first, row by row.
// Elsewhere what reads it reads the tensor itself. A launch shows which it is:
// both are one buffer, with another pointer and other strides.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

/// What is longer stays in no cache that is near, copied or not. Rows of copies are longer than
/// those that are copied, by a 32nd at most (bufferShape).
static constexpr int64_t mostCopied = (int64_t(4) << 20) + (int64_t(4) << 20) / 32;

/// `stride`: how many elements rows are apart.
Value BodyLowering::rowsCollide(const Buffer &copy, Value stride) {
  constexpr int64_t ways = 16; // of a set: so many rows have room on one, at least
  // Neighbouring pages have their translations next to each other, and are asked for ahead.
  constexpr int64_t apart = 2 * 4096, translations = 1536;
  Value bytes = b.i64(memoryType(copy.memory.element).getIntOrFloatBitWidth() / 8);
  Value rows = b.i64(1), row = b.mul(copy.memory.extents.back(), bytes);
  for (Value extent : ArrayRef(copy.memory.extents).drop_back())
    rows = b.mul(rows, extent);
  Value distance = b.mul(stride, bytes);
  // Rows fall on one of so many bytes of the cache.
  Value power = b.fold<arith::AndIOp>(distance, b.sub(b.i64(0), distance));
  Value share = b.minS(power, b.i64(std::max<int64_t>(1, target.coreCacheBytes / ways)));
  Value exceedsSets =
      b.both(b.compare(CmpIPredicate::sgt, power, row),
             b.compare(CmpIPredicate::sgt, b.mul(rows, share), b.i64(target.coreCacheBytes)));
  Value exceedsPages = b.both(b.compare(CmpIPredicate::sge, distance, b.i64(apart)),
                              b.compare(CmpIPredicate::sgt, rows, b.i64(translations)));
  Value hasRoom = b.compare(CmpIPredicate::sle, b.mul(rows, row), b.i64(mostCopied));
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
  shapes.back().mostBytes = mostCopied;
  SmallVector<Value> strides(copy->memory.strides);
  Value collide;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    Value last; // of the rows' dimensions
    for (auto [d, expr] : llvm::enumerate(load.getMap().getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        StringAttr axis = axisOf(load.getDims()[dim.getPosition()]);
        if (axis != inner)
          last = strides[llvm::find(axes, axis) - axes.begin()] = tensor.strides[d];
      }
    collide = rowsCollide(*copy, last);
    for (auto [own, ofTensor] : llvm::zip(ArrayRef(copy->memory.strides).drop_back(), strides))
      ofTensor = b.select(collide, own, ofTensor);
  }
  auto copyRows = [&] {
    nest(axes, inner, {}, [&](ValueRange) {
      writeBuffer(*copy, emit(load.getResult()));
      return Values();
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
