//===- EmitPackedDot.cpp - register-tiled contractions --------------------===//
//
//   for each batch coordinate and block of k:
//     pack lhs to [i][k] and rhs to [k][j], as numbers of the accumulator's type
//     for j by two vectors, for i by a few rows: keep that much of the result in
//       registers, and add the products of all k of the block to it
//
// Pairs outside the domain count as zeros where that is the same; where the
// other operand of such a pair is infinite or NaN, a slow loop leaves them out.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace tile::codegen {

struct PackedDot {
  using Values = CodeBuilder::Values;

  PackedDot(BodyLowering &lowering, DotOp op, const DotAxes &axes, Buffer *into);
  void emit();

private:
  /// Rows of the register tile: with two vectors each, as many as registers hold.
  int rows() const { return lowering.target.vectorBits == 512 ? 8 : 4; }
  Value pack(Value operand, Value panel, StringAttr row, StringAttr column, Value pitch,
             bool watches);
  void multiply(Value count);
  void multiplyRows(Value j, int vectors, Value count);
  Values registerTile(Value i, Value j, int height, int vectors, Value count);
  void multiplyExactly(Value from, Value to);
  Value resultAt(Value i, Value j);
  bool isRestricted(Value operand) {
    return !lowering.domains.restrictsOn(axesOf(operand.getType())).empty();
  }

  BodyLowering &lowering;
  CodeBuilder &b;
  DotOp op;
  const DotAxes &axes;
  Buffer *into;
  Type element;
  StringAttr k;
  int lanes;      // of the accumulator's type
  int64_t depth;  // of a block of k
  Value lhs, rhs; // the panels
  Value lhsPitch, rhsPitch, rowStride, base;
  std::pair<Value, Value> kRange; // of the current block
};

PackedDot::PackedDot(BodyLowering &lowering, DotOp op, const DotAxes &axes, Buffer *into)
    : lowering(lowering), b(lowering.b), op(op), axes(axes), into(into),
      element(getElementTypeOrSelf(op.getType())), k(op.getAxisAttr()),
      lanes(lowering.target.vectorBits / element.getIntOrFloatBitWidth()) {
  constexpr int64_t maxDepth = 256;
  int64_t all = cast<SpanType>(lowering.domains.spanOf(k.getValue()).getType()).getExtent();
  depth = ShapedType::isDynamic(all) ? maxDepth : std::clamp<int64_t>(all, 1, maxDepth);
  int64_t step = lowering.target.lanes();
  int64_t padded = (depth + step - 1) / step * step;
  lhs = lowering.newPanel(element, axes.i, {padded});
  rhs = lowering.newPanel(element, axes.j, {depth});
  lhsPitch = b.i64(padded);
}

/// Writes an operand to its panel, zero outside its domain. Gives whether any of
/// its numbers is infinite or NaN, if that is watched.
Value PackedDot::pack(Value operand, Value panel, StringAttr row, StringAttr column, Value pitch,
                      bool watches) {
  Type from = getElementTypeOrSelf(operand.getType());
  ArrayRef<StringAttr> all = axesOf(operand.getType());
  auto range = [&](StringAttr axis) { return axis == k ? kRange : lowering.rangeOf(axis); };
  Memory memory;
  memory.pointer = panel;
  memory.element = element;
  memory.strides = {pitch, b.i64(1)};
  StringAttr vectorAxis = lowering.chooseVectorAxis({row, column}, operand, std::nullopt, nullptr);
  StringAttr first = vectorAxis == row ? column : row, second = vectorAxis == row ? row : column;
  int width = vectorAxis ? lowering.target.lanes() : 1;
  Values none;
  if (watches)
    none.push_back(b.splat(b.i1(false), width));
  Value zero = emitConstant(b, b.getZeroAttr(element));
  Values found = lowering.level(
      first, range(first).first, range(first).second, 1, none, [&](ValueRange outer) {
        return lowering.level(
            second, range(second).first, range(second).second, width, outer, [&](ValueRange state) {
              Value value =
                  toAccumulator(b, lowering.target, lowering.emit(operand), from, element);
              value = b.select(lowering.restrictMask(all), value, zero);
              SmallVector<Lanes> indices;
              for (StringAttr axis : {row, column}) {
                Lanes index = lowering.coordinateOf(axis);
                index.value = b.sub(index.value, range(axis).first);
                indices.push_back(index);
              }
              Lanes offset = lowering.offsetOf(memory, indices, width);
              // Rows of a panel are padded to whole vectors.
              Value mask = offset.counts ? Value() : lowering.tailMask(all);
              lowering.writeElements(memory, offset, width, mask, b.splat(value, width));
              if (!watches)
                return Values();
              Value magnitude = math::AbsFOp::create(b, value);
              Value limit = b.number(value.getType(), std::numeric_limits<double>::infinity());
              Value isWild = arith::CmpFOp::create(b, CmpFPredicate::UEQ, magnitude, limit);
              Value seen = b.either(state[0], b.both(isWild, lowering.tailMask(all)));
              return Values(1, b.splat(seen, width));
            });
      });
  if (!watches)
    return {};
  if (width == 1)
    return found[0];
  Type bits = b.getIntegerType(width);
  Value mask = LLVM::BitcastOp::create(b, bits, found[0]);
  return b.compare(CmpIPredicate::ne, mask, b.integer(bits, 0));
}

Value PackedDot::resultAt(Value i, Value j) {
  return b.at(into->memory.pointer, b.add(base, b.add(b.mul(i, rowStride), j)), element);
}

CodeBuilder::Values PackedDot::registerTile(Value i, Value j, int height, int vectors,
                                            Value count) {
  Type type = lanesOf(element, lanes);
  Values sums, places;
  for (int r = 0; r < height; ++r)
    for (int v = 0; v < vectors; ++v) {
      places.push_back(resultAt(b.add(i, b.i64(r)), b.add(j, b.i64(v * lanes))));
      sums.push_back(b.load(type, places.back(), false));
    }
  Values rowStarts;
  for (int r = 0; r < height; ++r)
    rowStarts.push_back(b.at(lhs, b.mul(b.add(i, b.i64(r)), lhsPitch), element));
  Value column = b.at(rhs, j, element);
  sums = b.loop(b.i64(0), count, b.i64(1), sums, [&](Value at, ValueRange old) {
    Values next, right;
    Value line = b.at(column, b.mul(at, rhsPitch), element);
    for (int v = 0; v < vectors; ++v)
      right.push_back(b.load(type, b.at(line, b.i64(v * lanes), element), false));
    for (int r = 0; r < height; ++r) {
      Value left = b.load(element, b.at(rowStarts[r], at, element), false);
      for (int v = 0; v < vectors; ++v)
        next.push_back(emitMultiplyAdd(b, lowering.target, left, right[v], old[r * vectors + v]));
    }
    return next;
  });
  for (auto [sum, place] : llvm::zip(sums, places))
    b.store(sum, place);
  return {};
}

void PackedDot::multiplyRows(Value j, int vectors, Value count) {
  auto [lo, hi] = lowering.rangeOf(axes.i);
  Value height = b.sub(hi, lo), step = b.i64(rows());
  Value rest = b.fold<arith::AndIOp>(height, b.i64(rows() - 1)), full = b.sub(height, rest);
  b.loop(b.i64(0), full, step, {},
         [&](Value i, ValueRange) { return registerTile(i, j, rows(), vectors, count); });
  b.loop(full, height, b.i64(1), {},
         [&](Value i, ValueRange) { return registerTile(i, j, 1, vectors, count); });
}

void PackedDot::multiply(Value count) {
  auto [lo, hi] = lowering.rangeOf(axes.j);
  Value width = b.sub(hi, lo);
  Value rest = b.fold<arith::AndIOp>(width, b.i64(2 * lanes - 1)), full = b.sub(width, rest);
  b.loop(b.i64(0), full, b.i64(2 * lanes), {}, [&](Value j, ValueRange) {
    multiplyRows(j, 2, count);
    return Values();
  });
  b.loop(full, width, b.i64(lanes), {}, [&](Value j, ValueRange) {
    multiplyRows(j, 1, count);
    return Values();
  });
}

void PackedDot::multiplyExactly(Value from, Value to) {
  auto [iLo, iHi] = lowering.rangeOf(axes.i);
  auto [jLo, jHi] = lowering.rangeOf(axes.j);
  lowering.level(axes.i, iLo, iHi, 1, {}, [&](ValueRange) {
    return lowering.level(axes.j, jLo, jHi, 1, {}, [&](ValueRange) {
      Value i = b.sub(lowering.coordinateOf(axes.i).value, iLo);
      Value j = b.sub(lowering.coordinateOf(axes.j).value, jLo);
      Value place = resultAt(i, j), start = b.load(element, place, false);
      Values sum = lowering.level(k, from, to, 1, start, [&](ValueRange old) {
        Value at = b.sub(lowering.coordinateOf(k).value, from);
        Value left = b.load(element, b.at(lhs, b.add(b.mul(i, lhsPitch), at), element), false);
        Value right = b.load(element, b.at(rhs, b.add(b.mul(at, rhsPitch), j), element), false);
        Value next = emitMultiplyAdd(b, lowering.target, left, right, old[0]);
        Value inside = b.both(lowering.restrictMask(axesOf(op.getLhs().getType())),
                              lowering.restrictMask(axesOf(op.getRhs().getType())));
        return Values(1, b.select(inside, next, old[0]));
      });
      b.store(sum[0], place);
      return Values();
    });
  });
}

void PackedDot::emit() {
  if (lowering.bufferOf(op.getAcc()) != into)
    lowering.keep(op.getAcc(), into);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(lowering.prologue);
    rhsPitch = lowering.bufferShape(axes.j).front();
  }
  rowStride = into->memory.strides[llvm::find(into->axes, axes.i) - into->axes.begin()];
  bool isFloat = isa<FloatType>(element);
  bool watchesRhs = isFloat && isRestricted(op.getLhs());
  bool watchesLhs = isFloat && isRestricted(op.getRhs());
  lowering.nest(axes.outer, StringAttr(), {}, [&](ValueRange) {
    base = b.i64(0);
    for (auto [axis, stride] : llvm::zip(into->axes, into->memory.strides))
      if (axis != axes.i && axis != axes.j) {
        Value index = b.sub(lowering.coordinateOf(axis).value, lowering.rangeOf(axis).first);
        base = b.add(base, b.mul(index, stride));
      }
    auto [lo, hi] = lowering.rangeOf(k);
    b.loop(lo, hi, b.i64(depth), {}, [&](Value from, ValueRange) {
      Value to = b.add(from, b.minS(b.i64(depth), b.sub(hi, from)));
      kRange = {from, to};
      Value wildLhs = pack(op.getLhs(), lhs, axes.i, k, lhsPitch, watchesLhs);
      Value wildRhs = pack(op.getRhs(), rhs, k, axes.j, rhsPitch, watchesRhs);
      Value isWild = wildLhs && wildRhs ? b.either(wildLhs, wildRhs) : wildLhs ? wildLhs : wildRhs;
      auto fast = [&] {
        multiply(b.sub(to, from));
        return Values();
      };
      if (!isWild)
        return fast();
      return b.branch(
          isWild,
          [&] {
            multiplyExactly(from, to);
            return Values();
          },
          fast);
    });
    return Values();
  });
}
} // namespace tile::codegen

void BodyLowering::emitPackedDot(DotOp op, const DotAxes &axes, Buffer *into) {
  PackedDot(*this, op, axes, into).emit();
  buffers[op.getResult()] = into;
}
