//===- EmitControl.cpp - loops and conditions -----------------------------===//
//
// Carried tiles are carried register by register. All threads of a program take
// the same way, since conditions have no axes.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/ControlEmitter.h"
#include "ir/dialect/LoopOrder.h"
#include "ir/transforms/LongSums.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

ControlEmitter::ControlEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<ForOp>([this](ForOp op) { emitFor(op); });
  ctx.onOp<scf::ForOp>([this](scf::ForOp op) { emitCount(op); });
  ctx.onOp<scf::IfOp>([this](scf::IfOp op) { emitIf(op); });
  ctx.onOp<scf::WhileOp>([this](scf::WhileOp op) { emitWhile(op); });
}

CodeBuilder::Values ControlEmitter::keepMask(ForOp op, Value carried) {
  Axes axes = axesOf(carried.getType());
  SmallVector<StringAttr> outer;
  SmallVector<RestrictOp> relevant;
  for (RestrictOp restrict : ctx.domains.restrictsOf(op)) {
    SmallVector<StringAttr> others;
    for (Value span : restrict.getDims())
      if (span != op.getSpan())
        others.push_back(axisOf(span));
    if (!llvm::all_of(others, [&](StringAttr axis) { return llvm::is_contained(axes, axis); }))
      continue;
    relevant.push_back(restrict);
    for (StringAttr axis : others)
      if (!llvm::is_contained(outer, axis))
        outer.push_back(axis);
  }
  if (relevant.empty())
    return {};
  // Whether any coordinate of the loop's axis is inside, for each of the other axes'.
  SmallVector<StringAttr> all(outer);
  all.push_back(op.getNameAttr());
  SmallVector<int64_t> extents;
  SmallVector<unsigned> order, kept;
  for (auto [n, axis] : llvm::enumerate(all)) {
    extents.push_back(cast<SpanType>(ctx.domains.spanOf(axis.getValue()).getType()).getExtent());
    order.insert(order.begin(), n);
    if (n < outer.size())
      kept.push_back(n);
  }
  Layout layout = Layout::blocked({extents, order, {}, 1, ctx.warps});
  Values inside = ctx.places.domainMask(all, layout);
  for (Value &holds : inside)
    if (!holds)
      holds = b.i1(true);
  auto [left, states] =
      ctx.exchange.reduceStates(layout, {inside}, kept, [&](ValueRange x, ValueRange y) {
        return Values{b.either(x[0], y[0])};
      });
  Layout of = isa<RankedTensorType>(carried.getType()) ? layoutOf(carried.getType()) : Layout(0);
  Values result;
  if (outer.empty()) {
    result.assign(of.numRegisters(), states[0][0]);
    return result;
  }
  // To the threads that hold the carried elements.
  SmallVector<unsigned> positions;
  for (StringAttr axis : outer)
    positions.push_back(llvm::find(axes, axis) - axes.begin());
  Tile mask{outer, left, states[0]};
  Tile moved = ctx.exchange.convert(mask, of.project(positions));
  for (int64_t r = 0, count = of.numRegisters(); r < count; ++r) {
    Layout::Coords place = of.ofRegister(r), from;
    for (unsigned position : positions)
      from.push_back(place[position]);
    result.push_back(moved.registers[*moved.layout.registerAt(from)]);
  }
  return result;
}

void ControlEmitter::bindBlock(ForOp op, Value origin) {
  Value rest = b.sub(ctx.scalar(op.getUpper()), origin);
  ctx.ranges[op.getNameAttr()] = {origin, b.add(origin, b.minS(b.i64(op.getSize()), rest))};
}

void ControlEmitter::emitFor(ForOp op) {
  Value lower = ctx.scalar(op.getLower()), upper = ctx.scalar(op.getUpper());
  Value size = b.i64(op.getSize());
  Value lastBlock; // of a loop that begins with it
  if (isDecreasing(op)) {
    assert(op.getBody().front().getOps<DotOp>().empty() && "their loads come blocks ahead");
    Value before = b.fold<arith::DivUIOp>(b.sub(b.sub(upper, lower), b.i64(1)), size);
    lastBlock = b.add(lower, b.mul(before, size));
  }
  SmallVector<Fold> folds = ctx.folds.foldsOf(op);
  Values inits;
  Carried registers;
  for (auto [fold, init] : llvm::zip(folds, op.getInits())) {
    Values start = fold.reduce ? ctx.folds.startOf(fold) : ctx.flatten(init);
    bool isNumber = !fold.reduce && fold.isLongSum; // of one value yet
    registers.append(inits, isNumber ? ctx.folds.startOfSum(start) : start, fold.isLongSum);
    if (fold.reduce)
      ctx.waiting.insert({fold.reduce, fold.combine});
  }
  SmallVector<Rescaled> rescaled = rescaledOf(op);
  for (const Rescaled &pair : rescaled)
    ctx.apart.insert({pair.maximum, pair.added});
  int64_t floor = ctx.shared.floor;
  auto placed = ctx.operands.placeResidents(op);
  const Stages stages = stagesOf(op);
  for (const StagedLoad &staged : stages.loads)
    ctx.waiting.insert(staged.load);
  AheadLoads ahead{loadsAhead(op), {}};
  size_t numCarried = inits.size();
  if (!ahead.loads.empty())
    llvm::append_range(inits, fetchAhead(ahead, op, lower));
  ctx.waiting.insert(ahead.loads.begin(), ahead.loads.end());
  if (!stages.loads.empty() || !ahead.loads.empty())
    ctx.stagedLoops.push_back(
        {op.getName().str(), stages.depth, stages.bytes, static_cast<int64_t>(ahead.loads.size())});
  if (!stages.loads.empty()) {
    startFirstTurns(stages, op);
    inits.push_back(b.integer(b.getI32Type(), 0));
  }
  constexpr int64_t few = 128; // registers
  bool isTight =
      !op.getBody().front().getOps<DotOp>().empty() && registersOfThread(ctx.kernel) <= few;
  auto turn = [&](Value index, ValueRange all) {
    Value origin = lastBlock ? b.sub(lastBlock, b.sub(index, lower)) : index;
    Values fetched;
    ValueRange carried = all;
    Value slot = stages.loads.empty() ? Value() : carried.back();
    if (slot) {
      beginTurn(stages, op, origin, slot);
      carried = carried.drop_back();
    }
    if (!ahead.loads.empty())
      fetched = fetchAhead(ahead, op, b.add(origin, size));
    bindBlock(op, origin);
    bindAhead(ahead, carried.drop_front(numCarried));
    SmallVector<ValueRange> parts = registers.split(carried);
    for (auto [fold, value, part] : llvm::zip(folds, op.getCarried(), parts))
      if (!fold.reduce)
        ctx.bind(value, fold.isLongSum ? ctx.folds.zerosOf(part.take_front(part.size() / 2))
                                       : Values(part));
    ctx.emitBlock(op.getBody().front());
    if (ctx.failed)
      return Values(all);
    Values next;
    for (auto [fold, part, value, old] :
         llvm::zip(folds, parts, op.getYield().getOperands(), op.getCarried())) {
      if (fold.reduce) {
        llvm::append_range(next, ctx.folds.stepOf(fold, part));
        continue;
      }
      Values now = ctx.flatten(value), before = ctx.flatten(old), holds = keepMask(op, old);
      if (fold.isLongSum) {
        llvm::append_range(next, ctx.folds.addTerms(part, now, holds));
        continue;
      }
      for (auto [r, element] : llvm::enumerate(now))
        next.push_back(holds.empty() ? element : b.select(holds[r], element, before[r]));
    }
    llvm::append_range(next, fetched);
    if (slot)
      next.push_back(nextSlot(stages, slot));
    return next;
  };
  auto loop = [&](Value begin, Value end, ValueRange start) {
    return ctx.folds.loopBetween(begin, end, size, start, turn, /*mayUnroll=*/!isTight);
  };
  Values last =
      ctx.folds.loopOfSums(roundsOf(op), lower, upper, op.getSize(), registers, inits, loop);
  finishStages(stages);
  for (auto [dot, number] : placed)
    ctx.operands.residents.erase({dot, number});
  ctx.shared.floor = floor;
  ctx.ranges.erase(op.getNameAttr());
  if (ctx.failed)
    return;
  SmallVector<ValueRange> parts = registers.split(last);
  for (auto [fold, part, init, result] : llvm::zip(folds, parts, op.getInits(), op.getResults())) {
    if (fold.reduce)
      ctx.bind(result, ctx.folds.finish(fold, part, init));
    else
      ctx.bind(result, fold.isLongSum ? ctx.folds.totalOf(part) : Values(part));
  }
  for (const Rescaled &pair : rescaled) {
    auto [maxima, sums] = joinRescaled(pair, parts[pair.maximumNumber], parts[pair.sumNumber]);
    ctx.bind(op.getResult(pair.maximumNumber), maxima);
    ctx.bind(op.getResult(pair.sumNumber), sums);
  }
}

/// How often the code of a loop's round may stand where chains of additions are made of it.
struct RoundCopies {
  /// A round of the loop over chains has so many of them: with some, where each is short, as many
  /// loads are on their way as in a plain loop that `ptxas` unrolls. Rounds with loops have 0.
  int64_t chains = 0;
  /// A chain's rounds are written out where they are very short. `ptxas` would unroll one chain of
  /// several, as LLVM has the others count in a way that hides how often they run.
  bool areWritten = false;
};

/// Whether an op is a few instructions: of numbers, no function and no division, and nothing that
/// anybody sees.
static bool isFewInstructions(Operation *op) {
  auto isNumber = [](Type type) { return axesOf(type).empty(); };
  if (!llvm::all_of(op->getResultTypes(), isNumber) ||
      !llvm::all_of(op->getOperandTypes(), isNumber))
    return false;
  if (isa<LoadOp, scf::IfOp, scf::YieldOp, math::FmaOp, math::AbsFOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) &&
         !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
              arith::RemUIOp>(op);
}

static RoundCopies roundCopies(scf::ForOp loop) {
  constexpr unsigned fewOperations = 32, veryFew = 8;
  constexpr int64_t someChains = 4;
  unsigned operations = 0;
  bool hasLoop = false, isShort = true;
  loop.getBody()->walk([&](Operation *op) {
    ++operations;
    hasLoop |= isa<ForOp, scf::ForOp, scf::WhileOp, AlongAxes>(op);
    isShort &= isFewInstructions(op);
  });
  if (hasLoop)
    return {};
  if (!isShort || operations > fewOperations)
    return {1, false};
  return {someChains, operations <= veryFew};
}

void ControlEmitter::emitCount(scf::ForOp op) {
  constexpr int64_t mostStep = int64_t(1) << 40;
  Values inits;
  Carried registers;
  int64_t chain = std::numeric_limits<int64_t>::max(); // rounds whose terms add up by themselves
  for (auto [n, init] : llvm::enumerate(op.getInitArgs())) {
    Values start = ctx.flatten(ValueRange(init));
    int64_t rounds = roundsOfChain(op, n);
    registers.append(inits, rounds > 0 ? ctx.folds.startOfSum(start) : start, rounds > 0);
    if (rounds > 0)
      chain = std::min(chain, rounds);
  }
  RoundCopies copies = roundCopies(op);
  Value step = ctx.scalar(op.getStep());
  auto round = [&](Value index, ValueRange carried) -> Values {
    ctx.scalars[op.getInductionVar()] = index;
    ctx.bind(op.getRegionIterArgs(), carried);
    ctx.emitBlock(*op.getBody());
    return ctx.failed ? Values(carried) : ctx.flatten(op.getYieldedValues());
  };
  auto addUp = [&](Value begin, Value end, ValueRange carried) {
    SmallVector<ValueRange> before = registers.split(carried);
    Values start, next;
    Carried plain;
    for (auto [part, sum] : llvm::zip(registers.parts, before))
      plain.append(start,
                   part.isLongSum ? ctx.folds.zerosOf(sum.take_front(part.count / 2)) : Values(sum),
                   false);
    Values result = ctx.folds.loopBetween(begin, end, step, start, round, /*mayUnroll=*/true,
                                          copies.areWritten ? chain : 0);
    for (auto [part, sum, made] :
         llvm::zip(registers.parts, before, plain.split(ValueRange(result))))
      llvm::append_range(next, part.isLongSum ? ctx.folds.addTerms(sum, made) : Values(made));
    return next;
  };
  Value lower = ctx.scalar(op.getLowerBound()), upper = ctx.scalar(op.getUpperBound());
  std::optional<int64_t> each = getConstantIntValue(op.getStep());
  Values last;
  if (!registers.hasLongSums()) {
    last = b.loop(lower, upper, step, inits, round);
  } else if (each && *each > 0 && *each <= mostStep) {
    auto chains = [&](Value begin, Value end, ValueRange carried) {
      return ctx.folds.loopInRuns(begin, end, *each, chain, carried, addUp, copies.chains);
    };
    std::optional<int64_t> rounds = roundsOf(op);
    if (rounds)
      rounds = llvm::divideCeil(*rounds, chain);
    last = ctx.folds.loopOfSums(rounds, lower, upper, *each * chain, registers, inits, chains);
  } else {
    last = b.loop(lower, upper, step, inits, [&](Value index, ValueRange carried) {
      return addUp(index, b.add(index, b.i64(1)), carried);
    });
  }
  if (ctx.failed)
    return;
  for (auto [part, registers, result] :
       llvm::zip(registers.parts, registers.split(last), op.getResults()))
    ctx.bind(result, part.isLongSum ? ctx.folds.totalOf(registers) : Values(registers));
}

void ControlEmitter::emitIf(scf::IfOp op) {
  auto emitRegion = [&](Region &region) -> Values {
    if (region.empty())
      return {};
    ctx.emitBlock(region.front());
    return ctx.failed ? Values() : ctx.flatten(region.front().getTerminator()->getOperands());
  };
  Values result = b.branch(
      ctx.scalar(op.getCondition()), [&] { return emitRegion(op.getThenRegion()); },
      [&] { return emitRegion(op.getElseRegion()); });
  if (!ctx.failed)
    ctx.bind(op.getResults(), result);
}

void ControlEmitter::emitWhile(scf::WhileOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    Type element = registerType(getElementTypeOrSelf(result.getType()));
    int64_t count =
        axesOf(result.getType()).empty() ? 1 : layoutOf(result.getType()).numRegisters();
    types.append(count, element);
  }
  auto head = [&](ValueRange carried) -> std::pair<Value, Values> {
    ctx.bind(op.getBeforeArguments(), carried);
    ctx.emitBlock(*op.getBeforeBody());
    if (ctx.failed)
      return {b.i1(false), Values()};
    auto condition = op.getConditionOp();
    return {ctx.scalar(condition.getCondition()), ctx.flatten(condition.getArgs())};
  };
  auto body = [&](ValueRange passed) -> Values {
    if (ctx.failed)
      return {};
    ctx.bind(op.getAfterArguments(), passed);
    ctx.emitBlock(*op.getAfterBody());
    return ctx.failed ? Values() : ctx.flatten(op.getYieldOp().getOperands());
  };
  Values last = b.repeat(ctx.flatten(op.getInits()), head, body, types);
  if (!ctx.failed)
    ctx.bind(op.getResults(), last);
}
