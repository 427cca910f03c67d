//===- EmitReduce.cpp - reductions and count ------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using Values = CodeBuilder::Values;

//===-- Results -----------------------------------------------------------===//

Buffer *BodyLowering::resultBuffer(Type type) {
  return axesOf(type).empty() ? nullptr : newBuffer(getElementTypeOrSelf(type), axesOf(type));
}

/// With an axis last that isn't short, whatever the order is in which they were given: blocks have
/// room for whole vectors along the last one.
Buffer *BodyLowering::reducedBuffer(Value result) {
  SmallVector<StringAttr> axes(axesOf(result.getType()));
  auto last = llvm::find_if(llvm::reverse(axes), [&](StringAttr axis) { return !isShort(axis); });
  if (!isReadByDot(result) && last != axes.rend())
    axes = withLast(axes, *last);
  return axes.empty() ? nullptr : newBuffer(getElementTypeOrSelf(result.getType()), axes);
}

void BodyLowering::setResult(Value result, Buffer *buffer, Value scalarValue) {
  if (buffer)
    buffers[result] = buffer;
  else
    scalars[result] = scalarValue;
}

//===-- Reduction nests ---------------------------------------------------===//

BodyLowering::Fold BodyLowering::simpleFold(Value start, std::function<Value(Value)> step,
                                            std::function<Value(Value, Value)> join, Buffer *into) {
  return {{start},
          [step = std::move(step)](ValueRange state) { return Values{step(state[0])}; },
          [join = std::move(join)](ValueRange x, ValueRange y) { return Values{join(x[0], y[0])}; },
          [](ValueRange state) { return state[0]; },
          into};
}

Values BodyLowering::horizontal(Values state,
                                llvm::function_ref<Values(ValueRange, ValueRange)> join) {
  for (int width = widthOf(state[0]); width > 1; width /= 2) {
    Values low, high;
    for (Value value : state) {
      auto lanes = [&](int from, int to) -> Value {
        return width == 2 ? b.lane(value, from)
                          : b.shuffle(value, llvm::to_vector(llvm::seq<int32_t>(from, to)));
      };
      low.push_back(lanes(0, width / 2));
      high.push_back(lanes(width / 2, width));
    }
    state = join(low, high);
  }
  return state;
}

Values BodyLowering::joinAll(ArrayRef<Fold> folds, ValueRange x, ValueRange y) {
  Values joined;
  for (const Fold &fold : folds) {
    size_t at = joined.size(), count = fold.start.size();
    llvm::append_range(joined, fold.join(x.slice(at, count), y.slice(at, count)));
  }
  return joined;
}

Values BodyLowering::reductionNest(const Reduction &reduction, ArrayRef<Fold> folds) {
  bool hasSum = llvm::any_of(folds, [](const Fold &fold) { return fold.isSum; });
  int64_t chain = hasSum ? reduction.chain : 0;
  Values results;
  if (chain == 0 || reduction.inner.size() > 1 || reduction.isDear) {
    emitReduction(reduction, folds, chain, results);
    return results;
  }
  // Short axes have code of their own. Which of both runs doesn't vary in the nest.
  StringAttr axis = reduction.inner.front();
  auto [lo, hi] = rangeOf(axis);
  int64_t step = reduction.copies * (axis == reduction.vectorAxis ? target.lanes() : 1);
  Value isLong = b.compare(arith::CmpIPredicate::sge, b.sub(hi, lo), b.i64((chain + 1) * step));
  int before = nests;
  auto emitWith = [&](int64_t chain) {
    nests = before; // of both only one runs
    apart([&] { emitReduction(reduction, folds, chain, results); });
    return reduction.outer.empty() ? results : Values();
  };
  Values chosen = b.branch(
      isLong, [&] { return emitWith(chain); }, [&] { return emitWith(0); });
  return reduction.outer.empty() ? chosen : results;
}

void BodyLowering::emitReduction(const Reduction &reduction, ArrayRef<Fold> folds, int64_t chain,
                                 Values &results) {
  StringAttr vectorAxis = reduction.vectorAxis;
  bool isInner = llvm::is_contained(reduction.inner, vectorAxis);
  SmallVector<StringAttr> inner = withLast(reduction.inner, vectorAxis);
  auto join = [&](ValueRange x, ValueRange y) { return joinAll(folds, x, y); };
  nest(withLast(reduction.outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = isInner ? lanesAlong(vectorAxis) : widthAt(reduction.outer);
    Values start;
    for (const Fold &fold : folds)
      for (Value value : fold.start)
        start.push_back(b.splat(value, width));
    for (size_t n = 0; n < folds.size(); ++n)
      if (folds[n].begin) // it has a single value as its state
        start[n] = b.splat(folds[n].begin(), width);
    Unroll unroll = {reduction.copies, start, join};
    unroll.chain = chain;
    unroll.isAlone = inner.size() == 1;
    unroll.mayBeShort = reduction.isDear;
    auto addToAll = [&](ValueRange all, ValueRange chain) { return addChain(folds, all, chain); };
    auto close = [&](ValueRange all) { return closeSums(folds, all); };
    unroll.add = addToAll;
    unroll.close = close;
    auto step = [&](ValueRange state) {
      Values next;
      for (const Fold &fold : folds)
        for (Value value : fold.step(state.slice(next.size(), fold.start.size())))
          next.push_back(b.splat(value, width));
      return next;
    };
    Values first = chain ? openSums(folds, start, unroll.isAlone) : start;
    auto inside = [&] {
      return nest(inner, vectorAxis, first, step, &unroll, isInner ? reduction.vectors : 1);
    };
    Values sums = withCuts(inner.back(), vectorAxis, reduction.pulled, inside);
    if (chain && !unroll.isAlone)
      sums = closeRows(folds, start.size(), sums);
    if (isInner)
      sums = horizontal(sums, join);
    results.clear();
    size_t at = 0;
    for (const Fold &fold : folds) {
      results.push_back(fold.finish(ValueRange(sums).slice(at, fold.start.size())));
      at += fold.start.size();
      if (fold.into)
        writeBuffer(*fold.into, results.back());
    }
    return Values();
  });
}

bool BodyLowering::isCheapTwice(Value value) const {
  constexpr int most = 15; // less than a function
  return plan.costOf(value) <= most;
}

int BodyLowering::copiesFor(Value pulled, Axes inner, StringAttr vectorAxis) {
  StringAttr last = withLast(inner, vectorAxis).back();
  int64_t extent = cast<SpanType>(domains.spanOf(last).getType()).getExtent();
  int width = last == vectorAxis ? target.lanes() : 1;
  int cost = plan.costOf(pulled);
  int copies = cost <= 4 ? 4 : cost <= 10 ? 2 : 1;
  bool isShort = !ShapedType::isDynamic(extent) && extent < 4 * copies * width;
  return isShort ? 1 : copies;
}

static constexpr llvm::StringLiteral orderAttrName = "tile.fold_order";

std::optional<FoldOrder> tile::codegen::pinnedOrder(Operation *op) {
  auto order = op->getAttrOfType<DenseI64ArrayAttr>(orderAttrName);
  return order ? std::optional(FoldOrder{order[0], order[1], order[2]}) : std::nullopt;
}

void tile::codegen::pinOrder(Operation *op, const FoldOrder &order) {
  op->setAttr(orderAttrName,
              DenseI64ArrayAttr::get(op->getContext(), {order.lanes, order.copies, order.chain}));
}

FoldOrder BodyLowering::orderOf(const Reduction &reduction) const {
  auto *place = llvm::find(reduction.inner, reduction.vectorAxis);
  int64_t lanes = place == reduction.inner.end() ? -1 : place - reduction.inner.begin();
  return {lanes, reduction.copies, reduction.chain};
}

BodyLowering::Reduction BodyLowering::reductionOf(Operation *op, Axes all, Axes inner,
                                                  ValueRange pulled, const Buffer *into,
                                                  std::optional<FoldOrder> pinned) {
  Axes outer = axesOf(op->getResult(0).getType());
  Reduction reduction{SmallVector<StringAttr>(outer), SmallVector<StringAttr>(inner), {}};
  if (pinned && pinned->lanes >= 0 && pinned->lanes < static_cast<int64_t>(inner.size()))
    reduction.vectorAxis = inner[pinned->lanes];
  else
    reduction.vectorAxis =
        chooseVectorAxis(pinned ? outer : all, pulled, std::nullopt, pinned ? nullptr : into);
  reduction.copies = pinned ? static_cast<int>(std::max<int64_t>(1, pinned->copies))
                            : copiesFor(pulled[0], inner, reduction.vectorAxis);
  reduction.vectors = vectorsFor(reduction.vectorAxis, pulled);
  reduction.isDear = !llvm::all_of(pulled, [&](Value value) { return isCheapTwice(value); });
  reduction.chain = pinned ? pinned->chain : chainOf(reduction);
  orders[op] = orderOf(reduction);
  reduction.pulled.assign(pulled.begin(), pulled.end());
  return reduction;
}

//===-- reduce ------------------------------------------------------------===//

/// A maximum or minimum of f32 in which NaN is seen apart, so that each round waits
/// for one instruction only.
static Value emitRange(CodeBuilder &b, Value x, Value y, bool isMax) {
  constexpr int shortest = 4; // lanes of a vector that has it
  int width = widthOf(x);
  if (width < shortest) {
    SmallVector<int32_t> lanes(shortest, -1); // whatever else is there
    for (int lane = 0; lane < width; ++lane)
      lanes[lane] = lane;
    auto widened = [&](Value value) {
      return b.shuffle(b.splat(value, std::max(2, width)), lanes);
    };
    Value wide = emitRange(b, widened(x), widened(y), isMax);
    return width == 1 ? b.lane(wide, 0) : b.shuffle(wide, ArrayRef(lanes).take_front(width));
  }
  int mode = isMax ? 5 : 4; // with the sign of what is chosen
  SmallVector<Value> operands = {x, y, b.integer(b.getI32Type(), mode), x,
                                 b.integer(b.getIntegerType(std::max(8, width)), -1)};
  if (width == 16)
    operands.push_back(b.integer(b.getI32Type(), 4)); // rounding as it is set
  std::string name = "llvm.x86.avx512.mask.range.ps." + std::to_string(32 * width);
  return LLVM::CallIntrinsicOp::create(b, x.getType(), b.getStringAttr(name), operands)
      .getResult(0);
}

BodyLowering::Fold BodyLowering::foldOf(ReduceOp op, Buffer *into) {
  Type element = getElementTypeOrSelf(op.getInput().getType());
  CombineKind kind = op.getKind();
  SmallVector<StringAttr> all(axesOf(op.getInput().getType()));
  Value input = op.getInput(), identity = emitConstant(b, identityOf(kind, element));
  auto join = [this, kind, element](Value x, Value y) {
    return emitCombine(b, target, kind, element, x, y);
  };
  auto next = [this, all, input, identity] {
    return b.select(domainMask(all), emit(input), identity);
  };
  bool isMax = kind == CombineKind::max;
  if (!element.isF32() || !target.hasAvx512dq || (!isMax && kind != CombineKind::min)) {
    Fold fold = simpleFold(
        identity, [join, next](Value sum) { return join(sum, next()); }, join, into);
    fold.isSum = kind == CombineKind::add && (element.isF32() || element.isF64());
    return fold;
  }
  auto either = [this, isMax](Value x, Value y) { return emitRange(b, x, y, isMax); };
  auto step = [=, this](ValueRange state) {
    Value x = b.splat(next(), widthOf(state[0]));
    Value isNaN = arith::CmpFOp::create(b, CmpFPredicate::UNO, x, x);
    return Values{either(state[0], x), b.either(state[1], isNaN)};
  };
  auto joinStates = [=, this](ValueRange x, ValueRange y) {
    return Values{either(x[0], y[0]), b.either(x[1], y[1])};
  };
  auto finish = [=, this](ValueRange state) {
    Value nan = b.number(state[0].getType(), std::numeric_limits<double>::quiet_NaN());
    return b.select(state[1], nan, state[0]);
  };
  return {{identity, b.i1(false)}, step, joinStates, finish, into};
}

/// With those that come later and go through the same elements: each is read once.
void BodyLowering::emitReduce(ReduceOp op) {
  if (done.contains(op))
    return;
  SmallVector<StringAttr> inner(op.getAxes().getAsRange<StringAttr>());
  Axes all = axesOf(op.getInput().getType());
  auto of = [&](ReduceOp reduce) {
    return reductionOf(reduce, all, inner, reduce.getInput(), /*into=*/nullptr,
                       pinnedOrder(reduce));
  };
  Reduction reduction = of(op);
  SmallVector<ReduceOp> together = {op};
  SmallVector<Fold> folds = {foldOf(op, reducedBuffer(op.getResult()))};
  // All states stay in registers.
  size_t mostStates = (target.vectorBits == 512 ? 16 : 8) / reduction.copies;
  size_t states = folds[0].start.size();
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    auto other = dyn_cast<ReduceOp>(next);
    if (!other || done.contains(other) || other.getAxes() != op.getAxes() ||
        axesOf(other.getInput().getType()) != all ||
        axesOf(other.getType()) != axesOf(op.getType()) || !plan.isReadyAt(other.getInput(), op))
      continue;
    Reduction its = of(other);
    Fold fold = foldOf(other, nullptr);
    if (its.vectorAxis != reduction.vectorAxis || orderOf(its) != orderOf(reduction) ||
        states + fold.start.size() > mostStates)
      continue;
    fold.into = reducedBuffer(other.getResult());
    states += fold.start.size();
    reduction.pulled.push_back(other.getInput());
    together.push_back(other);
    folds.push_back(std::move(fold));
  }
  Values totals = reductionNest(reduction, folds);
  for (auto [reduce, fold, total] : llvm::zip(together, folds, totals)) {
    setResult(reduce.getResult(), fold.into, total);
    done.insert(reduce);
  }
}

void BodyLowering::keepAndReduce(Value value, Buffer *into) {
  StringAttr vectorAxis = chooseVectorAxis(into->axes, value, std::nullopt, into);
  // A dot then takes it as it is.
  if (isReadByDot(value) && !domains.restrictsOn(into->axes).empty())
    zeroed.insert(value);
  auto alongWith = [&](ReduceOp reduce) {
    SmallVector<StringAttr> inner(reduce.getAxes().getAsRange<StringAttr>());
    Reduction reduction{SmallVector<StringAttr>(axesOf(reduce.getType())),
                        inner,
                        vectorAxis,
                        copiesFor(value, inner, vectorAxis),
                        vectorsFor(vectorAxis, value),
                        !isCheapTwice(value)};
    reduction.chain = chainOf(reduction);
    llvm::append_range(reduction.pulled, value.getDefiningOp()->getOperands());
    return reduction;
  };
  SmallVector<ReduceOp> fitting;
  for (Operation *user : value.getUsers()) {
    auto reduce = dyn_cast<ReduceOp>(user);
    if (!reduce || user->getBlock() != value.getParentBlock() || done.contains(user) ||
        !llvm::is_contained(reduce.getAxes().getAsRange<StringAttr>(), vectorAxis))
      continue;
    std::optional<FoldOrder> pinned = pinnedOrder(reduce);
    bool isSame = fitting.empty() || fitting[0].getAxes() == reduce.getAxes();
    if (isSame && (!pinned || *pinned == orderOf(alongWith(reduce))))
      fitting.push_back(reduce);
  }
  if (fitting.empty())
    return keep(value, into);
  ReduceOp first = fitting[0];
  SmallVector<Fold> folds;
  for (ReduceOp reduce : llvm::reverse(fitting)) // users come last to first
    folds.push_back(foldOf(reduce, reducedBuffer(reduce.getResult())));
  SmallVector<StoreOp> stores = storedAlong(value, into->axes, vectorAxis);
  // The first step of a round stores, too.
  folds[0].step = [=, this, step = folds[0].step](ValueRange state) {
    writeBuffer(*into, keptElement(value));
    storeAlong(stores);
    return step(state);
  };
  Reduction reduction = alongWith(first);
  Values totals = reductionNest(reduction, folds);
  for (auto [reduce, fold, total] : llvm::zip(llvm::reverse(fitting), folds, totals)) {
    setResult(reduce.getResult(), fold.into, total);
    orders[reduce] = orderOf(reduction);
    done.insert(reduce);
  }
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
  Buffer *into = reducedBuffer(op.getResult());
  auto join = [&](Value x, Value y) { return b.add(x, y); };
  auto step = [&](Value sum) { return b.add(sum, b.select(domainMask(all), b.i64(1), b.i64(0))); };
  Values total =
      reductionNest({outer, inner, inner.back()}, simpleFold(b.i64(0), step, join, into));
  setResult(op.getResult(), into, total.back());
}
