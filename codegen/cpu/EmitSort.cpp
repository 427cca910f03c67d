//===- EmitSort.cpp - sorts: a stable merge sort of each line -------------===//
//
// The elements of a line inside the domain are packed with their coordinates
// into one half of a panel. Runs of one element, then two, four, … are merged
// from half to half until one is left (von Neumann's merge sort, bottom up), of
// equal elements the left one first, which is the lower coordinate.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace tile::codegen {
/// One sort while it is emitted.
struct LineSort {
  CodeBuilder &b;
  const TargetInfo &target;
  Type type, element; // of the IR, and in memory
  bool descending, isUnsigned;
  Value keys, coordinates, capacity;

  Value keyAt(Value index) const { return b.at(keys, index, element); }
  Value coordinateAt(Value index) const { return b.at(coordinates, index, b.getI64Type()); }
  /// As a number that compares.
  Value asNumber(Value key) const;
  Value goesBefore(Value x, Value y) const;
  void copy(Value to, Value from) const;
  void merge(Value from, Value to, Value low, Value middle, Value high) const;
  Value sortRuns(Value count) const;
};
} // namespace tile::codegen

Value LineSort::asNumber(Value key) const {
  return isNarrowFloat(type) ? widenToF32(b, target, key, cast<FloatType>(type)) : key;
}

/// NaN is greater than all numbers, and like itself.
Value LineSort::goesBefore(Value x, Value y) const {
  if (descending)
    std::swap(x, y);
  x = asNumber(x), y = asNumber(y);
  if (!isa<FloatType>(x.getType()))
    return b.compare(isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt, x, y);
  Value less = arith::CmpFOp::create(b, CmpFPredicate::OLT, x, y);
  Value isNumber = arith::CmpFOp::create(b, CmpFPredicate::ORD, x, x);
  Value isNaN = arith::CmpFOp::create(b, CmpFPredicate::UNO, y, y);
  return b.either(less, b.both(isNumber, isNaN));
}

void LineSort::copy(Value to, Value from) const {
  b.store(b.load(element, keyAt(from), false), keyAt(to));
  b.store(b.load(b.getI64Type(), coordinateAt(from), false), coordinateAt(to));
}

/// Merges [low, middle) and [middle, high) of the half that begins at `from`.
void LineSort::merge(Value from, Value to, Value low, Value middle, Value high) const {
  Value one = b.i64(1);
  b.loop(low, high, one, {low, middle}, [&](Value out, ValueRange at) {
    Value left = at[0], right = at[1];
    Value noLeft = b.compare(CmpIPredicate::sge, left, middle);
    Value noRight = b.compare(CmpIPredicate::sge, right, high);
    // What has run out compares something that is there, and is not taken.
    Value x = b.load(element, keyAt(b.add(from, b.select(noLeft, low, left))), false);
    Value y = b.load(element, keyAt(b.add(from, b.select(noRight, low, right))), false);
    Value takesRight = b.select(noRight, b.i1(false), b.either(noLeft, goesBefore(y, x)));
    copy(b.add(to, out), b.add(from, b.select(takesRight, right, left)));
    return CodeBuilder::Values{b.select(takesRight, left, b.add(left, one)),
                               b.select(takesRight, b.add(right, one), right)};
  });
}

/// Sorts the first `count` of the panel; gives where the half with the result begins.
Value LineSort::sortRuns(Value count) const {
  Value zero = b.i64(0);
  SmallVector<Type> types(2, b.getI64Type());
  auto isShort = [&](ValueRange state) {
    return std::pair(b.compare(CmpIPredicate::slt, state[0], count), CodeBuilder::Values(state));
  };
  CodeBuilder::Values last = b.repeat(
      {b.i64(1), zero}, isShort,
      [&](ValueRange state) {
        Value run = state[0], from = state[1], to = b.sub(capacity, from);
        Value both = b.add(run, run);
        b.loop(zero, count, both, {}, [&](Value low, ValueRange) {
          Value middle = b.minS(b.add(low, run), count);
          merge(from, to, low, middle, b.minS(b.add(low, both), count));
          return CodeBuilder::Values();
        });
        return CodeBuilder::Values{both, to};
      },
      types);
  return last[1];
}

void BodyLowering::emitSort(SortOp op) {
  Type type = getElementTypeOrSelf(op.getInput().getType());
  StringAttr axis = op.getAxisAttr(), rank = op.getRankAttr();
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType());
  SmallVector<StringAttr> outer;
  for (StringAttr other : all)
    if (other != axis)
      outer.push_back(other);
  Buffer *values = op.getValues().use_empty() ? nullptr : resultBuffer(op.getValues().getType());
  Buffer *coordinates =
      op.getCoordinates().use_empty() ? nullptr : resultBuffer(op.getCoordinates().getType());
  LineSort line{b,
                target,
                type,
                memoryType(type),
                op.getDescending(),
                op.getIsUnsigned(),
                newPanel(type, axis, {2}),
                newPanel(b.getI64Type(), axis, {2}),
                extentBound(axis)};
  CombineKind missing = op.getDescending()
                            ? (op.getIsUnsigned() ? CombineKind::umax : CombineKind::max)
                            : (op.getIsUnsigned() ? CombineKind::umin : CombineKind::min);
  Value none = emitConstant(b, identityOf(missing, type)), one = b.i64(1);
  nest(outer, {}, {}, [&](ValueRange) {
    Values count = alongAxis(axis, false, b.i64(0), [&](ValueRange packed) {
      Value at = packed[0], inside = domainMask(all);
      // What is outside is overwritten by the next one, or beyond the count.
      b.store(toMemory(emit(op.getInput()), type), line.keyAt(at));
      b.store(coordinateOf(axis).value, line.coordinateAt(at));
      return Values{b.select(inside, b.add(at, one), at)};
    });
    Value first = line.sortRuns(count[0]);
    SmallVector<StringAttr> after(outer);
    after.push_back(rank);
    alongAxis(rank, false, b.i64(0), [&](ValueRange taken) {
      Value isThere = b.compare(CmpIPredicate::slt, taken[0], count[0]);
      Lanes at{b.add(first, taken[0])};
      if (values)
        writeBuffer(*values,
                    readElements({line.keys, type, {}, {}}, {line.keys, at}, 1, isThere, none));
      if (coordinates)
        writeBuffer(*coordinates, readElements({line.coordinates, b.getI64Type(), {}, {}},
                                               {line.coordinates, at}, 1, isThere, b.i64(-1)));
      // Along the axis itself the next element goes to the next coordinate that is there.
      Value inside = rank == axis ? domainMask(all) : Value();
      return Values{b.select(inside, b.add(taken[0], one), taken[0])};
    });
    return Values();
  });
  if (values)
    buffers[op.getValues()] = values;
  if (coordinates)
    buffers[op.getCoordinates()] = coordinates;
}
