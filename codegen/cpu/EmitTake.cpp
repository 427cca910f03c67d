//===- EmitTake.cpp - elements of a tile at other coordinates -------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

void BodyLowering::emitTake(TakeOp op) {
  Type type = getElementTypeOrSelf(op.getType());
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType()), axes = axesOf(op.getType());
  SmallVector<StringAttr> moved = op.getAxesAlong();
  for (RestrictOp restrict : domains.restrictsOn(all))
    if (llvm::any_of(restrict.getDims(),
                     [&](Value span) { return llvm::is_contained(moved, axisOf(span)); })) {
      emitError(op.getLoc()) << "elements are taken along an axis with a condition";
      failed = true;
      return;
    }
  // Any coordinate may be asked for: the input is there as a whole.
  Buffer *from = bufferOf(op.getInput());
  if (!from) {
    from = newBuffer(type, all);
    keep(op.getInput(), from);
  }
  Buffer *into = resultBuffer(op.getType());
  StringAttr vectorAxis =
      chooseVectorAxis(axes, {}, Access{Value(), op.getMap(), op.getDims()}, into);
  Type element = registerType(type);
  Value zero = isa<FloatType>(element) ? b.number(element, 0) : b.integer(element, 0);
  Value result;
  nest(withLast(axes, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(axes);
    SmallVector<Lanes> places =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    Value isThere = tailMask(axes);
    for (auto [axis, place] : llvm::zip(all, places)) {
      auto [lo, hi] = rangeOf(axis);
      if (llvm::is_contained(moved, axis)) {
        Value coordinate = materialize(place, width);
        isThere = b.both(isThere, b.compare(CmpIPredicate::sge, coordinate, lo));
        isThere = b.both(isThere, b.compare(CmpIPredicate::slt, coordinate, hi));
      }
      place.value = b.sub(place.value, lo);
    }
    // What is kept may lie along another axis than the tile's last one.
    SmallVector<Lanes> ordered = llvm::map_to_vector(
        from->axes, [&](StringAttr axis) { return places[llvm::find(all, axis) - all.begin()]; });
    Place place = locate(from->memory, ordered, width);
    result = readElements(from->memory, place, width, isThere, zero);
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  setResult(op.getResult(), into, result);
}
