//===- EmitReduce.cpp - reductions, arg_reduce and count ------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===-- Results -----------------------------------------------------------===//

Buffer *BodyLowering::resultBuffer(Type type) {
  return axesOf(type).empty() ? nullptr : newBuffer(getElementTypeOrSelf(type), axesOf(type));
}

void BodyLowering::setResult(Value result, Buffer *buffer, Value scalarValue) {
  if (buffer)
    buffers[result] = buffer;
  else
    scalars[result] = scalarValue;
}

//===-- Reduction nests ---------------------------------------------------===//

Value BodyLowering::horizontal(Value vector, llvm::function_ref<Value(Value, Value)> join) {
  for (int width = widthOf(vector); width > 2; width /= 2) {
    SmallVector<int32_t> low = llvm::to_vector(llvm::seq<int32_t>(0, width / 2));
    SmallVector<int32_t> high = llvm::to_vector(llvm::seq<int32_t>(width / 2, width));
    vector = join(b.shuffle(vector, low), b.shuffle(vector, high));
  }
  return widthOf(vector) == 1 ? vector : join(b.lane(vector, 0), b.lane(vector, 1));
}

Value BodyLowering::reductionNest(const Reduction &reduction, Buffer *into) {
  StringAttr vectorAxis = reduction.vectorAxis;
  bool isInner = llvm::is_contained(reduction.inner, vectorAxis);
  SmallVector<StringAttr> inner = withLast(reduction.inner, vectorAxis);
  Value result;
  nest(withLast(reduction.outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = isInner ? target.lanes() : widthAt(reduction.outer);
    Value start = b.splat(reduction.start, width);
    Values sums = nest(inner, vectorAxis, start, [&](ValueRange sum) {
      return Values(1, b.splat(reduction.step(sum[0]), width));
    });
    Value total = isInner ? horizontal(sums[0], reduction.join) : sums[0];
    result = reduction.finish(total);
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  return result;
}

void BodyLowering::emitReduce(ReduceOp op) {
  Type element = getElementTypeOrSelf(op.getInput().getType());
  SmallVector<StringAttr> inner(op.getAxes().getAsRange<StringAttr>());
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType()), outer = axesOf(op.getType());
  Buffer *into = resultBuffer(op.getType());
  Value identity = emitConstant(b, identityOf(op.getKind(), element));
  auto join = [&](Value x, Value y) { return emitCombine(b, target, op.getKind(), element, x, y); };
  auto step = [&](Value sum) {
    return join(sum, b.select(domainMask(all), emit(op.getInput()), identity));
  };
  auto finish = [](Value total) { return total; };
  StringAttr vectorAxis = chooseVectorAxis(all, op.getInput(), std::nullopt, nullptr);
  Reduction reduction{
      SmallVector<StringAttr>(outer), inner, vectorAxis, identity, step, join, finish};
  Value total = reductionNest(reduction, into);
  setResult(op.getResult(), into, total);
}

//===-- arg_reduce --------------------------------------------------------===//

/// Whether x goes before the best so far.
static Value isBetter(CodeBuilder &b, CombineKind kind, Value x, Value best) {
  Value v[] = {x, best};
  b.unify(v);
  if (isa<FloatType>(elementOf(x.getType()))) {
    Value wins = arith::CmpFOp::create(
        b, kind == CombineKind::max ? CmpFPredicate::OGT : CmpFPredicate::OLT, v[0], v[1]);
    Value isNaN = arith::CmpFOp::create(b, CmpFPredicate::UNO, v[0], v[0]);
    Value bestIsNumber = arith::CmpFOp::create(b, CmpFPredicate::ORD, v[1], v[1]);
    return b.either(wins, b.both(isNaN, bestIsNumber));
  }
  CmpIPredicate predicate = kind == CombineKind::max    ? CmpIPredicate::sgt
                            : kind == CombineKind::min  ? CmpIPredicate::slt
                            : kind == CombineKind::umax ? CmpIPredicate::ugt
                                                        : CmpIPredicate::ult;
  return b.compare(predicate, v[0], v[1]);
}

void BodyLowering::emitArgReduce(ArgReduceOp op) {
  ArrayRef<StringAttr> all = axesOf(op.getInput().getType()), outer = axesOf(op.getType());
  auto element = getElementTypeOrSelf(op.getInput().getType());
  // In the order of the axis; lanes are other coordinates.
  StringAttr vectorAxis = chooseVectorAxis(outer, op.getInput(), std::nullopt, nullptr);
  Buffer *into = resultBuffer(op.getType());
  auto asNumber = [&](Value x) {
    return isNarrowFloat(element) ? widenToF32(b, target, x, cast<FloatType>(element)) : x;
  };
  Value result;
  nest(withLast(outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(outer);
    Value worst = asNumber(emitConstant(b, identityOf(op.getKind(), element)));
    Values inits = {b.splat(worst, width), b.splat(b.i64(-1), width)};
    Values found = nest(op.getAxisAttr(), vectorAxis, inits, [&](ValueRange state) {
      Value x = asNumber(emit(op.getInput()));
      Value isFirst = b.compare(CmpIPredicate::slt, state[1], b.i64(0));
      Value wins = b.either(isFirst, isBetter(b, op.getKind(), x, state[0]));
      wins = b.both(wins, domainMask(all));
      Value coordinate = materialize(coordinateOf(op.getAxisAttr()), 1);
      return Values{b.splat(b.select(wins, x, state[0]), width),
                    b.splat(b.select(wins, coordinate, state[1]), width)};
    });
    result = found[1];
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  setResult(op.getResult(), into, result);
}

//===-- count -------------------------------------------------------------===//

void BodyLowering::emitCountOp(CountOp op) {
  SmallVector<StringAttr> inner = llvm::map_to_vector(op.getSpans(), axisOf);
  SmallVector<StringAttr> outer(axesOf(op.getType())), all(outer);
  llvm::append_range(all, inner);
  if (outer.empty() && domains.restrictsOn(all).empty()) {
    Value count = b.i64(1);
    for (StringAttr axis : inner) {
      auto [lo, hi] = rangeOf(axis);
      count = b.mul(count, b.maxS(b.sub(hi, lo), b.i64(0)));
    }
    scalars[op.getResult()] = count;
    return;
  }
  Buffer *into = resultBuffer(op.getType());
  auto join = [&](Value x, Value y) { return b.add(x, y); };
  auto step = [&](Value sum) { return b.add(sum, b.select(domainMask(all), b.i64(1), b.i64(0))); };
  auto finish = [](Value total) { return total; };
  Reduction reduction{outer, inner, inner.back(), b.i64(0), step, join, finish};
  Value total = reductionNest(reduction, into);
  setResult(op.getResult(), into, total);
}
