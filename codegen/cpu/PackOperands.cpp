//===- PackOperands.cpp - a dot's operands in the order they are used -----===//
//
// Where vectors of the operand run along the panel's inner axis they are copied.
// Where they run across, as many vectors as a row of the panel has lanes are
// read and transposed in registers.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/PackedDot.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using Values = CodeBuilder::Values;

std::pair<Value, Value> PackedDot::rangeOf(StringAttr axis) {
  return axis == k ? kRange : lowering.rangeOf(axis);
}

/// The nest's coordinate, counted from the start of the block.
Value PackedDot::placeOf(StringAttr axis) {
  return b.sub(lowering.coordinateOf(axis).value, rangeOf(axis).first);
}

Value PackedDot::element(const Side &side) {
  Type from = getElementTypeOrSelf(side.operand.getType());
  Value value = toAccumulator(b, lowering.target, lowering.emit(side.operand), from, type);
  Value zero = emitConstant(b, b.getZeroAttr(type));
  return b.select(lowering.restrictMask(axesOf(side.operand.getType())), value, zero);
}

Values PackedDot::watch(const Side &side, Value value, Values seen) {
  if (!side.watches)
    return seen;
  Value limit = b.number(value.getType(), std::numeric_limits<double>::infinity());
  Value isWild =
      arith::CmpFOp::create(b, CmpFPredicate::UEQ, math::AbsFOp::create(b, value), limit);
  Value mask = lowering.tailMask(axesOf(side.operand.getType()));
  return {b.splat(b.either(seen[0], b.both(isWild, mask)), widthOf(seen[0]))};
}

void PackedDot::writeTo(const Side &side, llvm::function_ref<Value(StringAttr)> place, Value value,
                        int width) {
  Value at = side.inner == k ? rowPlace(rowNumber(place), place(k))
                             : columnPlace(place(k), place(axes.column));
  // What is behind the end of a row or panel is there to be written: no mask.
  b.store(b.splat(value, width), at);
}

/// Copies: vectors lie along the inner axis.
Values PackedDot::packAlong(const Side &side, int width, Values seen) {
  auto [lo, hi] = rangeOf(side.inner);
  return lowering.level(side.inner, lo, hi, width, seen, [&](ValueRange state) {
    Value value = element(side);
    writeTo(
        side, [&](StringAttr axis) { return placeOf(axis); }, value, width);
    return watch(side, value, Values(state));
  });
}

std::pair<Values, Values> PackedDot::readAcross(const Side &side, int width, Value from,
                                                Values seen) {
  auto read = [&] {
    Value row = b.splat(element(side), width);
    seen = watch(side, row, seen);
    return row;
  };
  Value end = rangeOf(side.inner).second;
  return {lowering.readAcross(side.inner, from, end, countAcross(side, width), read), seen};
}

/// Transposes: vectors lie along the other axis, which is vectorized here, and
/// the inner one is walked in as many steps as its short vectors have lanes.
Values PackedDot::packAcross(const Side &side, int width, Values seen) {
  int count = countAcross(side, width);
  // Rows that fill a panel's lie one behind the other in it.
  int atOnce = side.inner == k && pitch == count ? width : count;
  auto [lo, hi] = rangeOf(side.inner);
  auto [otherLo, otherHi] = rangeOf(side.other);
  return lowering.level(side.other, otherLo, otherHi, width, seen, [&](ValueRange outer) {
    return b.loop(lo, hi, b.i64(count), outer, [&](Value from, ValueRange state) {
      auto [rows, all] = readAcross(side, width, from, Values(state));
      lowering.at(side.inner, from, [&] {
        for (int first = 0; first < width * count; first += atOnce) {
          auto place = [&](StringAttr axis) {
            Value start = placeOf(axis);
            return axis == side.other ? b.add(start, b.i64(first / count)) : start;
          };
          Value part = b.lanes(rows[first / width], first % width, atOnce);
          writeTo(side, place, part, atOnce);
        }
      });
      return all;
    });
  });
}

Value PackedDot::pack(const Side &side) {
  StringAttr vectorAxis = lowering.chooseVectorAxis({side.other, side.inner}, side.operand,
                                                    std::nullopt, nullptr, /*mayBeShort=*/true);
  bool isAcross = vectorAxis == side.other;
  int width = vectorAxis ? lowering.lanesAlong(vectorAxis) : 1;
  if (isAcross)
    width = std::clamp(width, 2, mostLanes);
  Values seen;
  if (side.watches)
    seen.push_back(b.splat(b.i1(false), width));
  Values found = lowering.nest(side.outer, StringAttr(), seen, [&](ValueRange state) -> Values {
    if (isAcross)
      return packAcross(side, width, Values(state));
    auto [lo, hi] = rangeOf(side.other);
    return lowering.level(side.other, lo, hi, 1, state,
                          [&](ValueRange inner) { return packAlong(side, width, Values(inner)); });
  });
  if (!side.watches)
    return {};
  if (width == 1)
    return found[0];
  Type bits = b.getIntegerType(width);
  Value mask = LLVM::BitcastOp::create(b, bits, found[0]);
  return b.compare(CmpIPredicate::ne, mask, b.integer(bits, 0));
}
