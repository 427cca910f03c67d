//===- EmitTake.cpp - elements of a tile at other coordinates -------------===//
//
// The tile goes to shared memory as a whole, and each thread reads what it is to
// have.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/AlongEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

void AlongEmitter::emitTake(TakeOp op) {
  Tile input = ctx.tile(op.getInput());
  SmallVector<StringAttr> moved = op.getAxesAlong();
  for (RestrictOp restrict : ctx.domains.restrictsOn(input.axes))
    if (llvm::any_of(restrict.getDims(),
                     [&](Value span) { return llvm::is_contained(moved, axisOf(span)); }))
      return ctx.fail(op, "elements are taken along an axis with a condition");
  Type type = input.registers[0].getType(), stored = memoryType(type), i32 = b.getI32Type();
  SmallVector<int64_t> strides(input.axes.size());
  int64_t count = 1;
  Axes axes = axesOf(op.getType());
  for (unsigned axis = input.axes.size(); axis-- > 0;) {
    strides[axis] = count;
    int64_t extent = input.layout.extent(axis);
    // Where the axis stays, the result's padding is read, too.
    auto same = llvm::find(axes, input.axes[axis]);
    if (same != axes.end())
      extent = std::max(extent, layoutOf(op.getType()).extent(same - axes.begin()));
    count *= extent;
  }
  int64_t bytes = count * std::max(1u, stored.getIntOrFloatBitWidth() / 8);
  // Where that is more than there is, tiles become smaller (Shortage.h).
  Value base = ctx.shared.take(bytes);
  ctx.barriers.meet();
  for (auto [r, number] : llvm::enumerate(input.registers)) {
    Index place = ctx.places.linearPlace(input.layout, r, strides);
    ctx.shared.store(number, ctx.shared.at(base, place.base, stored, place.constant));
  }
  ctx.barriers.meet();
  Tile made{SmallVector<StringAttr>(axes), axes.empty() ? Layout(0) : layoutOf(op.getType()), {}};
  SmallVector<Value> syms =
      llvm::map_to_vector(op.getSyms(), [&](Value symbol) { return ctx.scalar(symbol); });
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  for (int64_t r = 0, registers = made.layout.numRegisters(); r < registers; ++r) {
    SmallVector<Index> at;
    for (Value span : op.getDims()) {
      StringAttr axis = axisOf(span);
      at.push_back(ctx.places.coordinate(axis, made.layout, made.axisIndex(axis), r));
    }
    Value isThere, place = b.integer(i32, 0);
    for (auto [n, expr] : llvm::enumerate(op.getMap().getResults())) {
      Range range = ctx.ranges.lookup(input.axes[n]);
      Value coordinate = ctx.places.materialize(ctx.places.evaluate(expr, at, syms));
      Value local = b.sub(coordinate, range.origin);
      if (llvm::is_contained(moved, input.axes[n])) {
        // Unsigned: what lies before the axis is far behind it.
        Value length = b.sub(range.end, range.origin);
        isThere = b.both(isThere, b.compare(CmpIPredicate::ult, local, length));
      }
      Value narrow = b.fold<arith::TruncIOp>(i32, local);
      place = b.add(place, b.mul(narrow, b.integer(i32, strides[n])));
    }
    place = b.select(isThere, place, b.integer(i32, 0));
    Value number = ctx.shared.load(type, ctx.shared.at(base, place, stored));
    made.registers.push_back(b.select(isThere, number, zero));
  }
  if (axes.empty())
    ctx.scalars[op.getResult()] = made.registers[0];
  else
    ctx.tiles[op.getResult()] = std::move(made);
}
