//===- Folds.cpp - reductions over the blocks of a loop -------------------===//

#include "codegen/gpu/loops/LoopFolds.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"
#include "ir/transforms/LongSums.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

static Type numberType(ReduceOp op) { return getElementTypeOrSelf(op.getInput().getType()); }

SmallVector<Fold> Folds::foldsOf(ForOp op) const {
  SmallVector<Fold> folds;
  bool isRestricted = !ctx.domains.restrictsOf(op).empty(); // skipped blocks leave what was
  for (auto [yielded, carried] : llvm::zip(op.getYield().getOperands(), op.getCarried())) {
    Fold &fold = folds.emplace_back();
    if (!isRestricted)
      std::tie(fold.reduce, fold.combine) = foldOf(yielded, carried);
    fold.isLongSum = fold.reduce ? isSumOfFloats(fold.reduce) : isLongSum(op, folds.size() - 1);
    if (fold.reduce)
      fold.kept = keptAxes(fold.reduce);
  }
  return folds;
}

CodeBuilder::Values Folds::startOf(const Fold &fold) {
  ReduceOp op = fold.reduce;
  Layout left = layoutOf(op.getInput().getType()).project(fold.kept);
  Value identity = emitConstant(b, identityOf(op.getKind(), numberType(op)));
  Values start(left.numRegisters(), identity);
  return fold.isLongSum ? startOfSum(start) : start;
}

/// The op that joins two states.
static auto combineOf(CodeBuilder &b, const TargetInfo &target, ReduceOp op) {
  return [&b, &target, op](ValueRange x, ValueRange y) mutable {
    return CodeBuilder::Values{emitCombine(b, target, op.getKind(), numberType(op), x[0], y[0])};
  };
}

CodeBuilder::Values Folds::stepOf(const Fold &fold, ValueRange before) {
  ReduceOp op = fold.reduce;
  Layout layout = layoutOf(op.getInput().getType());
  auto combine = combineOf(b, ctx.target, op);
  SmallVector<Values> states = Exchange::foldRegisters(
      layout, layout.project(fold.kept), {ctx.exchange.identityOutside(op)}, fold.kept, combine);
  Values next;
  for (ValueRange state : states)
    next.push_back(state[0]);
  if (fold.isLongSum)
    return addTerms(before, next);
  for (auto [state, old] : llvm::zip(next, before))
    state = combine(ValueRange(old), state)[0];
  return next;
}

CodeBuilder::Values Folds::joined(const Fold &fold, ValueRange states) {
  ReduceOp op = fold.reduce;
  SmallVector<Values> folded;
  for (Value state : fold.isLongSum ? totalOf(states) : Values(states))
    folded.push_back({state});
  ctx.exchange.foldThreads(layoutOf(op.getInput().getType()), fold.kept, folded,
                           combineOf(b, ctx.target, op));
  return llvm::map_to_vector(folded, [](const Values &state) { return state[0]; });
}

CodeBuilder::Values Folds::finish(const Fold &fold, ValueRange states, Value init) {
  auto combine = combineOf(b, ctx.target, fold.reduce);
  Values inits = ctx.flatten(init), result;
  for (auto [state, before] : llvm::zip(joined(fold, states), inits))
    result.push_back(combine(ValueRange(before), ValueRange(state))[0]);
  return result;
}

//===-- Long sums ---------------------------------------------------------===//

CodeBuilder::Values Folds::zerosOf(ValueRange numbers) {
  return llvm::map_to_vector(numbers, [&](Value number) { return b.number(number.getType(), 0); });
}

CodeBuilder::Values Folds::startOfSum(ValueRange init) {
  Values start(init);
  llvm::append_range(start, zerosOf(init));
  return start;
}

CodeBuilder::Values Folds::addTerms(ValueRange before, ValueRange terms, ArrayRef<Value> holds) {
  Values next, losses;
  for (auto [r, term] : llvm::enumerate(terms)) {
    Value old = before[r], oldLoss = before[r + terms.size()], sum, lost;
    if (isZero(old) && isZero(oldLoss)) { // nothing is rounded yet
      sum = arith::AddFOp::create(b, old, term);
      lost = oldLoss;
    } else {
      std::tie(sum, lost) = addCompensated(b, b.getLoc(), old, oldLoss, term);
    }
    next.push_back(holds.empty() ? sum : b.select(holds[r], sum, old));
    losses.push_back(holds.empty() ? lost : b.select(holds[r], lost, oldLoss));
  }
  llvm::append_range(next, losses);
  return next;
}

CodeBuilder::Values Folds::totalOf(ValueRange states) {
  Values totals;
  size_t count = states.size() / 2;
  for (size_t r = 0; r < count; ++r)
    totals.push_back(compensatedTotal(b, b.getLoc(), states[r], states[r + count]));
  return totals;
}

CodeBuilder::Values Folds::settle(ValueRange states) {
  Values sums, rests;
  size_t count = states.size() / 2;
  for (size_t r = 0; r < count; ++r) {
    auto [sum, rest] = settleCompensated(b, b.getLoc(), states[r], states[r + count]);
    sums.push_back(sum);
    rests.push_back(rest);
  }
  llvm::append_range(sums, rests);
  return sums;
}

void Carried::append(Values &registers, ValueRange more, bool isLongSum) {
  parts.push_back({more.size(), isLongSum});
  llvm::append_range(registers, more);
}

SmallVector<ValueRange> Carried::split(ValueRange registers) const {
  SmallVector<ValueRange> result;
  for (const Part &part : parts) {
    result.push_back(registers.take_front(part.count));
    registers = registers.drop_front(part.count);
  }
  return result;
}

bool Carried::hasLongSums() const {
  return llvm::any_of(parts, [](const Part &part) { return part.isLongSum; });
}

/// How much greater `upper` is, where that is known: both are constants, or a constant was added
/// that can't make it wrap.
static std::optional<int64_t> distanceBetween(Value lower, Value upper) {
  std::optional<int64_t> from = getConstantIntValue(lower), to = getConstantIntValue(upper);
  int64_t distance;
  if (from && to)
    return __builtin_sub_overflow(*to, *from, &distance) ? std::nullopt : std::optional(distance);
  auto sum = upper.getDefiningOp<arith::AddIOp>();
  bool isBehind = sum && sum.getLhs() == lower &&
                  bitEnumContainsAll(sum.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
  return isBehind ? getConstantIntValue(sum.getRhs()) : std::nullopt;
}

CodeBuilder::Values Folds::loopBetween(Value lower, Value upper, Value step, ValueRange inits,
                                       CodeBuilder::LoopBody body, bool mayUnroll,
                                       int64_t mostWritten) {
  std::optional<int64_t> distance = distanceBetween(lower, upper);
  if (!distance)
    return b.loop(lower, upper, step, inits, body, mayUnroll);
  std::optional<int64_t> each = getConstantIntValue(step);
  if (each && *each > 0 && *distance <= std::max<int64_t>(1, mostWritten) * *each) {
    Values carried(inits);
    for (int64_t at = 0; at < *distance; at += *each)
      carried = body(b.add(lower, b.i64(at)), carried);
    return carried;
  }
  auto round = [&](Value n, ValueRange carried) { return body(b.add(lower, n), carried); };
  return b.loop(b.i64(0), b.i64(*distance), step, inits, round, mayUnroll);
}

CodeBuilder::Values Folds::loopInRuns(Value lower, Value upper, int64_t step, int64_t rounds,
                                      ValueRange inits, Loop run, int64_t copies) {
  // Runs are counted: what comes after the last one may be no number of 64 bits.
  Value zero = b.i64(0), one = b.i64(1), length = b.i64(step * rounds), all;
  if (std::optional<int64_t> distance = distanceBetween(lower, upper))
    all = b.i64(std::max<int64_t>(0, *distance));
  else
    all = b.select(b.compare(arith::CmpIPredicate::sge, lower, upper), zero, b.sub(upper, lower));
  // So many times `together` runs, which stand one behind the other.
  auto runsOf = [&](Value first, Value count, int64_t together, Value length,
                    ValueRange registers) -> Values {
    if (getConstantIntValue(count) == 0)
      return registers;
    Value stride = b.mul(length, b.i64(together));
    auto turns = [&](Value n, ValueRange registers) {
      Values made(registers);
      Value begin = b.add(first, b.mul(n, stride));
      for (int64_t turn = 0; turn < together; ++turn) {
        Value end = arith::AddIOp::create(b, begin, length, arith::IntegerOverflowFlags::nsw);
        made = run(begin, end, made);
        begin = end;
      }
      return made;
    };
    return getConstantIntValue(count) == 1 ? turns(zero, registers)
                                           : b.loop(zero, count, one, registers, turns);
  };
  Value whole = b.fold<arith::DivUIOp>(all, length), rest = b.sub(all, b.mul(whole, length));
  Value hasRest = b.compare(arith::CmpIPredicate::ne, rest, zero);
  if (copies > 0 || getConstantIntValue(rest) == 0) {
    Values registers(inits);
    Value behind = lower, left = whole;
    if (copies > 1) {
      Value turns = b.fold<arith::DivUIOp>(whole, b.i64(copies));
      Value taken = b.mul(turns, b.i64(copies));
      registers = runsOf(lower, turns, copies, length, registers);
      behind = b.add(lower, b.mul(taken, length));
      left = b.sub(whole, taken);
    }
    std::optional<int64_t> few = copies > 1 ? getConstantIntValue(left) : std::nullopt;
    registers = few ? runsOf(behind, b.i64(*few > 0), *few, length, registers)
                    : runsOf(behind, left, 1, length, registers);
    return runsOf(b.add(lower, b.mul(whole, length)), b.select(hasRest, one, zero), 1, rest,
                  registers);
  }
  Value count = b.add(whole, b.select(hasRest, one, zero));
  return b.loop(zero, count, one, inits, [&](Value n, ValueRange registers) {
    Value begin = b.add(lower, b.mul(n, length)), left = b.sub(upper, begin);
    return run(begin, b.add(begin, b.fold<arith::MinUIOp>(left, length)), registers);
  });
}

CodeBuilder::Values Folds::loopOfSums(std::optional<int64_t> rounds, Value lower, Value upper,
                                      int64_t step, const Carried &carried, ValueRange inits,
                                      Loop loop) {
  // What is lost runs up in one number, and loses as the square of the rounds does.
  constexpr int64_t most = 256;
  if (!carried.hasLongSums() || (rounds && *rounds <= most))
    return loop(lower, upper, inits);
  auto run = [&](Value begin, Value end, ValueRange registers) {
    Values result = loop(begin, end, registers), next;
    for (auto [part, made] : llvm::zip(carried.parts, carried.split(ValueRange(result))))
      llvm::append_range(next, part.isLongSum ? settle(made) : Values(made));
    llvm::append_range(next, ArrayRef(result).drop_front(next.size()));
    return next;
  };
  return loopInRuns(lower, upper, step, most, inits, run);
}
