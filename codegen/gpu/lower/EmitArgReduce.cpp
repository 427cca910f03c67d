//===- EmitArgReduce.cpp - where the best number is -----------------------===//
//
// Numbers become keys: integers of the same width, of which the greatest is the best.
// So one number goes before another by two comparisons of keys and one of places,
// whatever the type; each comparison of floats that may be NaN would take several, and
// a predicate for each.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/ReduceEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Signed keys in the order of integers. What is best is greatest.
static Value keyOfInteger(CodeBuilder &b, Value number, bool isMax, bool isUnsigned) {
  auto type = cast<IntegerType>(number.getType());
  if (isUnsigned)
    number = b.fold<arith::XOrIOp>(
        number, b.integer(type, APInt::getSignMask(type.getWidth()).getSExtValue()));
  return isMax ? number : b.fold<arith::XOrIOp>(number, b.integer(type, -1));
}

/// Signed keys in the order of f32 or f64, with NaN above all others and the two zeros equal. The
/// least key is no number's: those of infinities are nearer to 0.
static Value keyOfFloat(CodeBuilder &b, Value number, bool isMax) {
  unsigned width = number.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(width);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, number, number);
  // −0 + 0 is 0. Bits of negative numbers grow downwards, but for the sign.
  Value bits = b.bitcast(arith::AddFOp::create(b, number, b.number(number.getType(), 0)), type);
  Value sign = b.fold<arith::ShRSIOp>(bits, b.integer(type, width - 1));
  Value most = b.integer(type, APInt::getSignedMaxValue(width).getSExtValue());
  Value key = b.fold<arith::XOrIOp>(bits, b.fold<arith::AndIOp>(sign, most));
  if (!isMax)
    key = b.fold<arith::XOrIOp>(key, b.integer(type, -1));
  return b.select(isNaN, most, key);
}

void ReduceEmitter::emitArgReduce(ArgReduceOp op) {
  Tile input = ctx.tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType()), i32 = b.getI32Type();
  unsigned position = input.axisIndex(op.getAxisAttr());
  bool isMax = op.getKind() == CombineKind::max || op.getKind() == CombineKind::umax;
  bool isUnsigned = op.getKind() == CombineKind::umax || op.getKind() == CombineKind::umin;
  Values mask = ctx.places.domainMask(input.axes, input.layout), keys, places;
  Value nowhere = b.integer(i32, -1);
  for (auto [r, number] : llvm::enumerate(input.registers)) {
    if (isNarrowFloat(element))
      number = widenToF32(b, ctx.target, number, cast<FloatType>(element));
    Value key = isa<FloatType>(element) ? keyOfFloat(b, number, isMax)
                                        : keyOfInteger(b, number, isMax, isUnsigned);
    // What is outside goes behind everything: it has the least key, and of all places the last.
    unsigned width = key.getType().getIntOrFloatBitWidth();
    Value least = b.integer(key.getType(), APInt::getSignedMinValue(width).getSExtValue());
    keys.push_back(b.select(mask[r], key, least));
    places.push_back(b.select(mask[r], ctx.places.localPlace(input.layout, position, r), nowhere));
  }
  SmallVector<unsigned> kept;
  for (unsigned n = 0; n < input.axes.size(); ++n)
    if (n != position)
      kept.push_back(n);
  // The first of the best.
  auto combine = [&](ValueRange x, ValueRange y) -> Values {
    Value isBetter = b.compare(CmpIPredicate::sgt, x[0], y[0]);
    Value isEqual = b.compare(CmpIPredicate::eq, x[0], y[0]);
    Value isBefore = b.compare(CmpIPredicate::ult, x[1], y[1]);
    Value takes = b.either(isBetter, b.both(isEqual, isBefore));
    return {b.select(takes, x[0], y[0]), b.select(takes, x[1], y[1])};
  };
  Values found = ctx.exchange.reduceStates(input.layout, {keys, places}, kept, combine).second[1];
  // From places in the tile to coordinates; −1 where the axis is empty.
  Value origin = ctx.ranges.lookup(op.getAxisAttr()).origin;
  for (Value &place : found) {
    Value at = b.add(origin, b.fold<arith::ExtUIOp>(b.getI64Type(), place));
    place = b.select(b.compare(CmpIPredicate::eq, place, nowhere), b.i64(-1), at);
  }
  ctx.bind(op.getResult(), found);
}
