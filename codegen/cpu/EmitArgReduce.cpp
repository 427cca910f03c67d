//===- EmitArgReduce.cpp - where the best element is ----------------------===//
//
// Where lanes are coordinates of the axis, a chunk of it that the first cache holds is gone through
// for its best element, as `max` does; only where that is better than all before is it gone through
// again, up to the first place that has it.
//
// Else, and where elements are too dear to be computed twice, a state is the best element so far
// and how far it is along the axis, −1 for none. Lanes have states of their own, and so has each
// copy of an unrolled loop. Each sees its elements in order, so that the first of equal ones stays;
// only where states meet are places compared.
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

//===-- Along lanes -------------------------------------------------------===//

/// Gives the better of two numbers in one instruction: zeros are alike, and a y that is NaN loses.
static Value betterOf(CodeBuilder &b, CombineKind kind, Value x, Value y) {
  CmpFPredicate better = kind == CombineKind::max ? CmpFPredicate::OGT : CmpFPredicate::OLT;
  Value wins = isa<FloatType>(elementOf(x.getType())) ? compareFloats(b, better, y, x)
                                                      : isBetterInteger(b, kind, y, x);
  return b.select(wins, y, x);
}

/// Joins two states, of the best number and, of floats, whether NaN has been seen.
static CodeBuilder::Values joinBest(CodeBuilder &b, CombineKind kind, ValueRange x, ValueRange y) {
  CodeBuilder::Values joined = {betterOf(b, kind, x[0], y[0])};
  if (x.size() > 1)
    joined.push_back(b.either(x[1], y[1]));
  return joined;
}

static CodeBuilder::Values stateOf(CodeBuilder &b, Value x) {
  if (!isa<FloatType>(elementOf(x.getType())))
    return {x};
  return {x, compareFloats(b, CmpFPredicate::UNO, x, x)};
}

/// The best of all lanes' states: NaN where there has been any.
Value BodyLowering::bestOfLanes(CombineKind kind, Values state) {
  auto join = [&](ValueRange x, ValueRange y) { return Values{betterOf(b, kind, x[0], y[0])}; };
  Value best = horizontal({state[0]}, join)[0];
  if (state.size() == 1)
    return best;
  Value nan = b.number(best.getType(), std::numeric_limits<double>::quiet_NaN());
  return b.select(b.any(state[1]), nan, best);
}

/// Where elements are the best one of all that were asked.
static Value areBest(CodeBuilder &b, Value x, Value best) {
  best = b.splat(best, widthOf(x));
  if (!isa<FloatType>(elementOf(x.getType())))
    return b.compare(CmpIPredicate::eq, x, best);
  // If one is NaN, that is the best.
  return b.either(compareFloats(b, CmpFPredicate::OEQ, x, best),
                  compareFloats(b, CmpFPredicate::UNO, x, x));
}

Value BodyLowering::numberOf(ArgReduceOp op, int width) {
  auto element = getElementTypeOrSelf(op.getInput().getType());
  Value x = emit(op.getInput());
  if (isNarrowFloat(element))
    x = widenToF32(b, target, x, cast<FloatType>(element));
  return b.splat(x, width);
}

Value BodyLowering::bestBetween(ArgReduceOp op, Value worst, Value from, Value to) {
  StringAttr axis = op.getAxisAttr();
  Axes all = axesOf(op.getInput().getType());
  int width = lanesAlong(axis);
  auto join = [&](ValueRange x, ValueRange y) { return joinBest(b, op.getKind(), x, y); };
  auto step = [&](ValueRange state) {
    Value x = b.splat(b.select(domainMask(all), numberOf(op, width), worst), width);
    return join(state, stateOf(b, x));
  };
  Values start = {b.splat(worst, width)};
  if (isa<FloatType>(worst.getType()))
    start.push_back(b.splat(b.i1(false), width));
  Unroll unroll = {copiesFor(op.getInput(), axis, axis), start, join};
  Values found;
  apart([&] { found = level(axis, from, to, width, start, step, &unroll); });
  return bestOfLanes(op.getKind(), found);
}

Value BodyLowering::firstWhere(ArgReduceOp op, Value best, Value from, Value to) {
  constexpr int64_t together = 64; // places, a bit each
  StringAttr axis = op.getAxisAttr();
  Axes all = axesOf(op.getInput().getType());
  int width = lanesAlong(axis);
  Type i64 = b.getI64Type();
  Value zero = b.i64(0), none = b.i64(-1);
  auto placeIn = [&](Value first, Value end) {
    auto step = [&](ValueRange state) {
      Value x = numberOf(op, width);
      Value isThere = b.splat(b.both(areBest(b, x, best), domainMask(all)), width);
      Value bits = LLVM::BitcastOp::create(b, b.getIntegerType(width), isThere);
      bits = b.fold<arith::ExtUIOp>(i64, bits);
      bits = b.fold<arith::ShLIOp>(bits, b.sub(coordinateOf(axis).value, first));
      return Values{b.fold<arith::OrIOp>(state[0], bits)};
    };
    auto join = [&](ValueRange x, ValueRange y) {
      return Values{b.fold<arith::OrIOp>(x[0], y[0])};
    };
    int copies = std::min<int>(copiesFor(op.getInput(), axis, axis), together / width);
    Unroll unroll = {copies, zero, join};
    Value bits;
    apart([&] { bits = level(axis, first, end, width, zero, step, &unroll)[0]; });
    Value place = b.add(first, math::CountTrailingZerosOp::create(b, bits));
    return b.select(b.compare(CmpIPredicate::ne, bits, zero), place, none);
  };
  int64_t extent = extentOf(axis);
  if (!ShapedType::isDynamic(extent) && extent <= together)
    return placeIn(from, to);
  Value length = b.maxS(b.sub(to, from), zero);
  Value rest = b.add(from, b.fold<arith::AndIOp>(length, b.i64(-together)));
  auto isNone = [&](Value place) { return b.compare(CmpIPredicate::slt, place, zero); };
  auto goesOn = [&](ValueRange state) {
    Value isOpen = b.both(isNone(state[1]), b.compare(CmpIPredicate::slt, state[0], rest));
    return std::pair(isOpen, Values(state));
  };
  auto look = [&](ValueRange state) {
    Value end = b.add(state[0], b.i64(together));
    return Values{end, placeIn(state[0], end)};
  };
  Value place = b.repeat({from, none}, goesOn, look, {i64, i64})[1];
  return b.branch(
      isNone(place), [&] { return Values{placeIn(rest, to)}; }, [&] { return Values{place}; })[0];
}

/// The first coordinate of the best element, −1 where there is none.
Value BodyLowering::seekBest(ArgReduceOp op, Value worst) {
  constexpr int64_t chunk = 4096; // elements, which the first cache holds
  auto [lo, hi] = rangeOf(op.getAxisAttr());
  int64_t extent = extentOf(op.getAxisAttr());
  if (!ShapedType::isDynamic(extent) && extent <= chunk)
    return firstWhere(op, bestBetween(op, worst, lo, hi), lo, hi);
  auto goThrough = [&, hi = hi](Value from, ValueRange before) {
    Value to = b.minS(b.add(from, b.i64(chunk)), hi);
    Value best = bestBetween(op, worst, from, to);
    Value takes = b.either(isBetter(b, op.getKind(), best, before[0]),
                           b.compare(CmpIPredicate::slt, before[1], b.i64(0)));
    return b.branch(
        takes,
        [&] {
          return Values{best, firstWhere(op, best, from, to)};
        },
        [&] { return Values(before); });
  };
  return b.loop(lo, hi, b.i64(chunk), {worst, b.i64(-1)}, goThrough)[1];
}

//===-- Across lanes, or of what is dear ----------------------------------===//

/// The best between two coordinates, not too far from each other, and how far it is from the first.
CodeBuilder::Values BodyLowering::walkToBest(ArgReduceOp op, StringAttr vectorAxis, Value worst,
                                             Value from, Value to) {
  StringAttr axis = op.getAxisAttr();
  Axes all = axesOf(op.getInput().getType());
  CombineKind kind = op.getKind();
  int lanes = vectorAxis == axis ? lanesAlong(axis) : 1;
  int width = std::max(lanes, widthAt(axesOf(op.getType())));
  Type i32 = b.getI32Type();
  Value none = b.integer(i32, -1);
  // Where all elements are inside, what is as bad as can be need not win against none: if nothing
  // has been better, the first element is the first of the best.
  bool hasConditions = !domains.restrictsOn(all).empty();
  Values start = {b.splat(worst, width), b.splat(none, width)};
  auto step = [&](ValueRange state) {
    Value x = numberOf(op, width);
    Value wins = isBetter(b, kind, x, state[0]);
    if (hasConditions)
      wins = b.either(wins, b.compare(CmpIPredicate::eq, state[1], none));
    wins = b.both(wins, domainMask(all));
    Value place = b.fold<arith::TruncIOp>(i32, b.sub(coordinateOf(axis).value, from)); // lane 0's
    return Values{b.splat(b.select(wins, x, state[0]), width),
                  b.splat(b.select(wins, b.splat(place, width), state[1]), width)};
  };
  auto join = [&](ValueRange x, ValueRange y) { return joinStates(b, kind, x, y); };
  Unroll unroll = {copiesFor(op.getInput(), axis, vectorAxis), start, join};
  Values found = level(axis, from, to, lanes, start, step, &unroll);
  if (lanes > 1) {
    Value lane = b.fold<arith::TruncIOp>(lanesOf(i32, lanes), b.iota(lanes));
    Value isNone = b.compare(CmpIPredicate::eq, found[1], none);
    found[1] = b.select(isNone, found[1], b.add(found[1], lane));
    // The best of all lanes' states, and the first of the places that have it.
    Value best = bestOfLanes(kind, stateOf(b, found[0]));
    Value places = b.select(areBest(b, found[0], best), found[1], b.splat(none, lanes));
    auto least = [&](ValueRange x, ValueRange y) {
      return Values{arith::MinUIOp::create(b, x[0], y[0])};
    };
    found = {best, horizontal({places}, least)[0]};
  }
  return {found[0], b.fold<arith::ExtSIOp>(lanesOf(b.getI64Type(), widthOf(found[1])), found[1])};
}

Value BodyLowering::placeOfBest(ArgReduceOp op, StringAttr vectorAxis, Value worst) {
  auto [lo, hi] = rangeOf(op.getAxisAttr());
  // Places of 32 bits: of an axis that may be longer, so much at a time.
  constexpr int64_t most = int64_t(1) << 30;
  int64_t extent = extentOf(op.getAxisAttr());
  int width = vectorAxis == op.getAxisAttr() ? 1 : widthAt(axesOf(op.getType()));
  auto isNone = [&](Value place) { return b.compare(CmpIPredicate::slt, place, b.i64(0)); };
  auto walkFar = [&, lo = lo, hi = hi](Value from, ValueRange before) {
    Values part = walkToBest(op, vectorAxis, worst, from, b.minS(b.add(from, b.i64(most)), hi));
    Value place = b.add(part[1], b.sub(from, lo));
    Value takes = b.either(isBetter(b, op.getKind(), part[0], before[0]), isNone(before[1]));
    takes = b.both(takes, b.compare(CmpIPredicate::sge, part[1], b.i64(0)));
    return Values{b.select(takes, part[0], before[0]), b.select(takes, place, before[1])};
  };
  Value place;
  if (!ShapedType::isDynamic(extent) && extent <= most)
    place = walkToBest(op, vectorAxis, worst, lo, hi)[1];
  else
    place =
        b.loop(lo, hi, b.i64(most), {b.splat(worst, width), b.splat(b.i64(-1), width)}, walkFar)[1];
  bool hasConditions = !domains.restrictsOn(axesOf(op.getInput().getType())).empty();
  Value isEmpty = hasConditions ? b.i1(true) : b.compare(CmpIPredicate::sge, lo, hi);
  return b.select(isNone(place), b.select(isEmpty, b.i64(-1), lo), b.add(place, lo));
}

//===-- arg_reduce --------------------------------------------------------===//

void BodyLowering::emitArgReduce(ArgReduceOp op) {
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType()), outer = axesOf(op.getType());
  StringAttr axis = op.getAxisAttr();
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Buffer *into = reducedBuffer(op.getResult());
  StringAttr vectorAxis = chooseVectorAxis(all, op.getInput(), std::nullopt, into);
  Value worst = emitConstant(b, identityOf(op.getKind(), element));
  if (isNarrowFloat(element))
    worst = widenToF32(b, target, worst, cast<FloatType>(element));
  bool seeks = vectorAxis == axis && lanesAlong(axis) > 1 && isCheapTwice(op.getInput());
  Value result;
  nest(withLast(outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    result = seeks ? seekBest(op, worst) : placeOfBest(op, vectorAxis, worst);
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  setResult(op.getResult(), into, result);
}
