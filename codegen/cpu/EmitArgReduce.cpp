//===- EmitArgReduce.cpp - where the best element is ----------------------===//
//
// A state is the best element so far and how far it is along the axis, −1 for none. Where lanes are
// coordinates of the axis, each has a state of its own, and so has each copy of an unrolled loop.
// Each sees its elements in order, so that the first of equal ones stays; only where states meet
// are places compared.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static Value compareFloats(CodeBuilder &b, CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}

/// Whether integer x goes before the best so far, from which it differs.
static Value isBetterInteger(CodeBuilder &b, CombineKind kind, Value x, Value best) {
  CmpIPredicate predicate = kind == CombineKind::max    ? CmpIPredicate::sgt
                            : kind == CombineKind::min  ? CmpIPredicate::slt
                            : kind == CombineKind::umax ? CmpIPredicate::ugt
                                                        : CmpIPredicate::ult;
  return b.compare(predicate, x, best);
}

/// Whether x goes before the best so far, from which it differs.
static Value isBetter(CodeBuilder &b, CombineKind kind, Value x, Value best) {
  Value v[] = {x, best};
  b.unify(v);
  if (!isa<FloatType>(elementOf(v[0].getType())))
    return isBetterInteger(b, kind, v[0], v[1]);
  // NaN is greater, or less, than what is ordered; and nothing is better than NaN.
  bool isMax = kind == CombineKind::max;
  Value wins = compareFloats(b, isMax ? CmpFPredicate::UGT : CmpFPredicate::ULT, v[0], v[1]);
  return b.both(wins, compareFloats(b, CmpFPredicate::ORD, v[1], v[1]));
}

/// The better of two states, and of equal ones the first. None has the last of all places.
static CodeBuilder::Values joinStates(CodeBuilder &b, CombineKind kind, ValueRange x,
                                      ValueRange y) {
  Value isFirst = b.compare(CmpIPredicate::ult, y[1], x[1]);
  Value isWorse = isBetter(b, kind, x[0], y[0]);
  Value isAlike = b.fold<arith::XOrIOp>(isWorse, b.integer(isWorse.getType(), 1)); // or better
  Value takes = b.either(isBetter(b, kind, y[0], x[0]), b.both(isAlike, isFirst));
  return {b.select(takes, y[0], x[0]), b.select(takes, y[1], x[1])};
}

/// The best of a vector's lanes, and in which lanes it is. NaN is seen apart, and zeros are alike,
/// so that halves of a vector meet in one instruction.
std::pair<Value, Value> BodyLowering::bestOfLanes(CombineKind kind, Value x) {
  bool isFloat = isa<FloatType>(elementOf(x.getType()));
  CmpFPredicate better = kind == CombineKind::max ? CmpFPredicate::OGT : CmpFPredicate::OLT;
  auto join = [&](ValueRange x, ValueRange y) {
    Value wins =
        isFloat ? compareFloats(b, better, x[0], y[0]) : isBetterInteger(b, kind, x[0], y[0]);
    return Values(1, b.select(wins, x[0], y[0]));
  };
  Value best = horizontal(Values(1, x), join)[0], all = b.splat(best, widthOf(x));
  if (!isFloat)
    return {best, b.compare(CmpIPredicate::eq, x, all)};
  Value isNaN = compareFloats(b, CmpFPredicate::UNO, x, x), hasNaN = b.any(isNaN);
  Value nan = b.number(best.getType(), std::numeric_limits<double>::quiet_NaN());
  Value isBest = compareFloats(b, CmpFPredicate::OEQ, x, all);
  return {b.select(hasNaN, nan, best), b.select(hasNaN, isNaN, isBest)};
}

void BodyLowering::emitArgReduce(ArgReduceOp op) {
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType()), outer = axesOf(op.getType());
  StringAttr axis = op.getAxisAttr();
  CombineKind kind = op.getKind();
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Buffer *into = reducedBuffer(op.getResult());
  StringAttr vectorAxis = chooseVectorAxis(all, op.getInput(), std::nullopt, into);
  auto asNumber = [&](Value x) {
    return isNarrowFloat(element) ? widenToF32(b, target, x, cast<FloatType>(element)) : x;
  };
  auto ofOuter = [&] { return vectorAxis == axis ? 1 : widthAt(outer); };
  // Where all elements are inside, what is as bad as can be need not win against none: if nothing
  // has been better, the first element is the first of the best.
  bool hasConditions = !domains.restrictsOn(all).empty();
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value none = b.integer(i32, -1);
  Value worst = asNumber(emitConstant(b, identityOf(kind, element)));
  auto join = [&](ValueRange x, ValueRange y) { return joinStates(b, kind, x, y); };
  // The best is found among all lanes' states, then the first of the places that have it: of one
  // vector, that of the first lane.
  auto firstOfBest = [&](Values state, Value isOneVector) {
    int lanes = widthOf(state[0]);
    auto [best, isBest] = bestOfLanes(kind, state[0]);
    auto firstLane = [&, isBest = isBest] {
      Value isThere = b.compare(CmpIPredicate::ne, state[1], b.splat(none, lanes));
      Value mask = hasConditions ? b.both(isBest, isThere) : isBest;
      Value bits = b.fold<arith::ExtUIOp>(
          i32, LLVM::BitcastOp::create(b, b.getIntegerType(lanes), mask).getResult());
      Value lane = math::CountTrailingZerosOp::create(b, bits);
      Value isAny = b.compare(CmpIPredicate::ne, bits, b.integer(i32, 0));
      return Values(1, b.select(isAny, lane, none));
    };
    auto least = [&](ValueRange x, ValueRange y) {
      return Values(1, arith::MinUIOp::create(b, x[0], y[0]));
    };
    auto firstPlace = [&, isBest = isBest] {
      return horizontal({b.select(isBest, state[1], b.splat(none, lanes))}, least);
    };
    return Values{best, b.branch(isOneVector, firstLane, firstPlace)[0]};
  };
  // The best between two coordinates, not too far from each other, and how far it is from the
  // first.
  auto walk = [&](Value from, Value to) {
    int width = vectorAxis == axis ? lanesAlong(axis) : ofOuter();
    Values start = {b.splat(worst, width), b.splat(none, width)};
    auto step = [&](ValueRange state) {
      Value x = b.splat(asNumber(emit(op.getInput())), width);
      Value wins = isBetter(b, kind, x, state[0]);
      if (hasConditions)
        wins = b.either(wins, b.compare(CmpIPredicate::eq, state[1], none));
      wins = b.both(wins, domainMask(all));
      Value place = b.fold<arith::TruncIOp>(i32, b.sub(coordinateOf(axis).value, from)); // lane 0's
      return Values{b.splat(b.select(wins, x, state[0]), width),
                    b.splat(b.select(wins, b.splat(place, width), state[1]), width)};
    };
    Unroll unroll = {copiesFor(op.getInput(), axis, vectorAxis), start, join};
    int lanes = vectorAxis == axis ? width : 1;
    Values found = level(axis, from, to, lanes, start, step, &unroll);
    if (lanes > 1) {
      Value lane = b.fold<arith::TruncIOp>(lanesOf(i32, lanes), b.iota(lanes));
      Value isNone = b.compare(CmpIPredicate::eq, found[1], none);
      found[1] = b.select(isNone, found[1], b.add(found[1], lane));
      found = firstOfBest(found, b.compare(CmpIPredicate::sle, b.sub(to, from), b.i64(lanes)));
    }
    return Values{found[0], b.fold<arith::ExtSIOp>(lanesOf(i64, ofOuter()), found[1])};
  };

  Value result;
  nest(withLast(outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    auto [lo, hi] = rangeOf(axis);
    // Places of 32 bits: of an axis that may be longer, so much at a time.
    constexpr int64_t most = int64_t(1) << 30;
    int64_t extent = cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
    Values start = {b.splat(worst, ofOuter()), b.splat(b.i64(-1), ofOuter())};
    auto walkFar = [&, lo = lo, hi = hi](Value from, ValueRange before) {
      Values part = walk(from, b.minS(b.add(from, b.i64(most)), hi));
      auto joined = [&] {
        auto isNone = [&](Value place) { return b.compare(CmpIPredicate::slt, place, b.i64(0)); };
        Value place = b.add(part[1], b.sub(from, lo));
        Value takes = b.either(isBetter(b, kind, part[0], before[0]), isNone(before[1]));
        takes = b.both(takes, b.compare(CmpIPredicate::sge, part[1], b.i64(0)));
        return Values{b.select(takes, part[0], before[0]), b.select(takes, place, before[1])};
      };
      return b.branch(
          b.compare(CmpIPredicate::eq, from, lo), [&] { return part; }, joined);
    };
    bool isShort = !ShapedType::isDynamic(extent) && extent <= most;
    Value place = isShort ? walk(lo, hi)[1] : b.loop(lo, hi, b.i64(most), start, walkFar)[1];
    Value isNone = b.compare(CmpIPredicate::slt, place, b.i64(0));
    Value isEmpty = hasConditions ? b.i1(true) : b.compare(CmpIPredicate::sge, lo, hi);
    result = b.select(isNone, b.select(isEmpty, b.i64(-1), lo), b.add(place, lo));
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  setResult(op.getResult(), into, result);
}
