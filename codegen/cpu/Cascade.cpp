//===- Cascade.cpp - long sums of floats keep their digits ----------------===//
//
// One accumulator for N terms is off by up to N roundings. Here only a short
// chain of terms adds up so. The sums of all chains are added in f64, or, those of
// f64, in two numbers, the sum and what its roundings have lost (Knuth's two-sum).
// With chains of B rounds on L lanes and C copies there are at most
//
//   (B − 1) + log₂ C + C + log₂ L + 1
//
// roundings on a term's way, each by half a unit of the sum of the magnitudes. That is
// below 4 · (2 + log₂ N) units where N ≥ B · L · C; of fewer terms the chain is
// shorter. What is short has no more code to run than a comparison.
//
// In a sum over several axes each row is a chain or several, and the last ones of a few
// rows make one chain more: of short rows, too, little is added in f64.
//
// A loop that only adds to a carried value runs in groups of rounds: in a group it adds to
// a chain, which begins with 0, or with what the loop begins with. A loop of one group has
// nothing else to do.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"
#include "ir/transforms/LongSums.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using Values = CodeBuilder::Values;

/// Whether a sum has, beside it, what it has lost.
static bool isPair(Type state) { return elementOf(state).isF64(); }

int64_t BodyLowering::chainOf(const Reduction &reduction) {
  bool isInner = llvm::is_contained(reduction.inner, reduction.vectorAxis);
  int64_t apart = reduction.copies * (isInner ? target.lanes() : 1);
  int64_t chain = apart >= 8 ? 64 : 32, all = 1;
  for (StringAttr axis : reduction.inner) {
    int64_t extent = cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
    bool isLong = ShapedType::isDynamic(extent) || extent > chain * apart;
    all = isLong ? chain * apart + 1 : std::min(all * extent, chain * apart + 1);
  }
  bool isShort = all <= (reduction.inner.size() == 1 ? chain * apart : chain);
  return isShort ? 0 : chain;
}

static Value widened(CodeBuilder &b, Value number) {
  return arith::ExtFOp::create(b, lanesOf(b.getF64Type(), widthOf(number)), number);
}

Values BodyLowering::openSums(ArrayRef<Fold> folds, ValueRange state, bool isAlone) {
  ValueRange start = state;
  Values all;
  for (const Fold &fold : folds) {
    size_t count = fold.start.size();
    if (!fold.isSum)
      llvm::append_range(all, state.take_front(count));
    else if (isPair(state[0].getType()))
      all.append({state[0], b.number(state[0].getType(), 0)});
    else
      all.push_back(widened(b, state[0]));
    state = state.drop_front(count);
  }
  if (!isAlone) {
    llvm::append_range(all, start);
    all.push_back(b.i64(0));
  }
  return all;
}

Values BodyLowering::addChain(ArrayRef<Fold> folds, ValueRange all, ValueRange chain) {
  Values next;
  for (const Fold &fold : folds) {
    size_t count = fold.start.size(), taken = count;
    if (!fold.isSum) {
      llvm::append_range(next, fold.join(all.take_front(count), chain.take_front(count)));
    } else if (isPair(chain[0].getType())) {
      auto [sum, lost] = addCompensated(b, b.getLoc(), all[0], all[1], chain[0]);
      next.append({sum, lost});
      taken = 2;
    } else {
      next.push_back(arith::AddFOp::create(b, all[0], widened(b, chain[0])));
    }
    all = all.drop_front(taken);
    chain = chain.drop_front(count);
  }
  return next;
}

Values BodyLowering::closeSums(ArrayRef<Fold> folds, ValueRange all) {
  Values state;
  for (const Fold &fold : folds) {
    size_t count = fold.start.size();
    if (!fold.isSum) {
      llvm::append_range(state, all.take_front(count));
    } else if (isPair(fold.start[0].getType())) {
      state.push_back(compensatedTotal(b, b.getLoc(), all[0], all[1]));
      count = 2;
    } else {
      Type narrow = lanesOf(fold.start[0].getType(), widthOf(all[0]));
      state.push_back(arith::TruncFOp::create(b, narrow, all[0]));
    }
    all = all.drop_front(count);
  }
  return state;
}

Values BodyLowering::closeRows(ArrayRef<Fold> folds, size_t each, ValueRange state) {
  ValueRange chain = state.take_back(each + 1).drop_back();
  return closeSums(folds, addChain(folds, state.drop_back(each + 1), chain));
}

Values BodyLowering::addRow(const Unroll &unroll, ValueRange carried,
                            llvm::function_ref<Values(Values &all)> lastChain) {
  constexpr int64_t rowsOfChain = 16;
  size_t each = unroll.start.size();
  Values all(carried.drop_back(each + 1)), last = lastChain(all);
  Values chain = unroll.join(carried.take_back(each + 1).drop_back(), last);
  Value rows = b.add(carried.back(), b.i64(1));
  auto keep = [&] {
    Values kept(all);
    llvm::append_range(kept, chain);
    kept.push_back(rows);
    return kept;
  };
  auto add = [&] {
    Values added = unroll.add(all, chain);
    llvm::append_range(added, unroll.start);
    added.push_back(b.i64(0));
    return added;
  };
  Value goesOn = b.compare(arith::CmpIPredicate::slt, rows, b.i64(rowsOfChain));
  return b.branch(goesOn, keep, add);
}

Values BodyLowering::joinCopies(const Unroll &unroll, Values states) {
  size_t each = unroll.start.size();
  for (size_t half = states.size() / 2; half >= each; half /= 2) {
    Values joined;
    for (size_t at = 0; at < half; at += each)
      llvm::append_range(joined, unroll.join(ValueRange(states).slice(at, each),
                                             ValueRange(states).slice(at + half, each)));
    states = std::move(joined);
  }
  return states;
}

Values BodyLowering::chains(const Range &range, Value end, Round round, LevelBody body,
                            const Unroll &unroll, Values &all) {
  size_t opened = all.size();
  Values starts;
  for (int c = 0; c < unroll.copies; ++c)
    llvm::append_range(starts, unroll.start);
  Value length = b.i64(unroll.chain * range.width * unroll.copies);
  auto chainEnd = [&](Value from) { return b.minS(b.add(from, length), end); };
  Block *before = b.getInsertionBlock();
  Values inits = {range.lo, chainEnd(range.lo)};
  llvm::append_range(inits, all);
  SmallVector<Type> types(ValueRange(inits).drop_front().getTypes());
  llvm::append_range(types, ValueRange(starts).getTypes());
  auto head = [&](ValueRange state) -> std::pair<Value, Values> {
    Values passed(state.drop_front());
    llvm::append_range(passed, rounds(range, state[0], state[1], round, starts, before, body));
    return {b.compare(arith::CmpIPredicate::slt, state[1], end), passed};
  };
  auto addToAll = [&](ValueRange passed) {
    Values next = {passed[0], chainEnd(passed[0])};
    Values chain = joinCopies(unroll, Values(passed.drop_front(1 + opened)));
    llvm::append_range(next, unroll.add(passed.slice(1, opened), chain));
    return next;
  };
  Values last = b.repeat(inits, head, addToAll, types);
  all.assign(last.begin() + 1, last.begin() + 1 + opened);
  return joinCopies(unroll, Values(ValueRange(last).drop_front(1 + opened)));
}

//===-- Sums that loops carry ---------------------------------------------===//

BodyLowering::CarriedSums BodyLowering::carriedSums(Operation *loop, ArrayRef<Buffer *> tiles) {
  CarriedSums result;
  unsigned nextScalar = 0;
  for (auto [n, tile] : llvm::enumerate(tiles)) {
    unsigned scalar = tile ? 0 : nextScalar++;
    int64_t rounds = roundsOfChain(loop, static_cast<unsigned>(n));
    if (rounds == 0)
      continue;
    Type type = getElementTypeOrSelf(loop->getResult(n).getType());
    CarriedSum sum;
    sum.fold = simpleFold(b.number(type, 0), nullptr, nullptr, tile);
    sum.fold.isSum = true;
    sum.chain = tile;
    sum.scalar = scalar;
    Values none = openSums(sum.fold, sum.fold.start, /*isAlone=*/true);
    if (!tile)
      llvm::append_range(result.all, none);
    else
      for (Value value : none)
        sum.all.push_back(newBuffer(value.getType(), tile->axes));
    result.rounds = result.sums.empty() ? rounds : std::min(result.rounds, rounds);
    result.sums.push_back(std::move(sum));
  }
  return result;
}

void BodyLowering::overTile(const Buffer &tile, llvm::function_ref<void()> body) {
  StringAttr vectorAxis = chooseVectorAxis(tile.axes, {}, std::nullopt, &tile);
  nest(withLast(tile.axes, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    body();
    return Values();
  });
}

void BodyLowering::addCarried(const CarriedSums &sums, Values &scalars, Values &all, Value isFirst,
                              bool isLast) {
  size_t next = 0;
  for (const CarriedSum &sum : sums.sums) {
    Value zero = sum.fold.start[0];
    if (!sum.chain) {
      size_t count = openSums(sum.fold, zero, /*isAlone=*/true).size();
      Value &chain = scalars[sum.scalar];
      Values added = addChain(sum.fold, ValueRange(all).slice(next, count), chain);
      chain = isLast ? b.select(isFirst, chain, closeSums(sum.fold, added)[0]) : zero;
      llvm::copy(added, all.begin() + next);
      next += count;
      continue;
    }
    auto addTile = [&] {
      overTile(*sum.chain, [&] {
        Values before;
        for (Buffer *buffer : sum.all) {
          Value element = readBuffer(*buffer);
          Value none = b.number(element.getType(), 0);
          before.push_back(isLast ? element : b.select(isFirst, none, element));
        }
        Values added = addChain(sum.fold, before, readBuffer(*sum.chain));
        if (!isLast)
          for (auto [buffer, value] : llvm::zip(sum.all, added))
            writeBuffer(*buffer, value);
        writeBuffer(*sum.chain, isLast ? closeSums(sum.fold, added)[0] : zero);
      });
      return Values();
    };
    if (isLast)
      b.branch(
          isFirst, [] { return Values(); }, addTile);
    else
      addTile();
  }
}

Values BodyLowering::loopOfChains(Value lower, Value upper, Value step, Values inits,
                                  const CarriedSums &sums, CodeBuilder::LoopBody body) {
  if (sums.sums.empty())
    return b.loop(lower, upper, step, inits, body);
  // A chain ends where a round does; where that isn't sure, with each of them.
  APInt known;
  bool isKnown = matchPattern(step, m_ConstantInt(&known)) && known.isStrictlyPositive() &&
                 known.getSExtValue() <= INT64_MAX / sums.rounds;
  Value length = isKnown ? b.i64(known.getSExtValue() * sums.rounds) : step;
  auto chainEnd = [&](Value from) {
    Value rest = b.sub(b.maxS(upper, from), from);
    Value isLast = b.compare(arith::CmpIPredicate::ule, rest, length);
    return b.add(from, b.select(isLast, rest, length));
  };
  Value firstEnd = chainEnd(lower);
  Values state = {lower, firstEnd};
  llvm::append_range(state, inits);
  llvm::append_range(state, sums.all);
  auto head = [&](ValueRange state) -> std::pair<Value, Values> {
    Values passed = {state[1]};
    llvm::append_range(passed,
                       b.loop(state[0], state[1], step, state.slice(2, inits.size()), body));
    llvm::append_range(passed, state.drop_front(2 + inits.size()));
    return {b.compare(arith::CmpIPredicate::slt, state[1], upper), passed};
  };
  auto add = [&](ValueRange passed, bool isLast) {
    Values scalars(passed.slice(1, inits.size())), all(passed.drop_front(1 + inits.size()));
    Value isFirst = b.compare(arith::CmpIPredicate::eq, passed[0], firstEnd);
    addCarried(sums, scalars, all, isFirst, isLast);
    return std::pair(scalars, all);
  };
  auto next = [&](ValueRange passed) {
    auto [scalars, all] = add(passed, /*isLast=*/false);
    Values next = {passed[0], chainEnd(passed[0])};
    llvm::append_range(next, scalars);
    llvm::append_range(next, all);
    return next;
  };
  SmallVector<Type> types(ValueRange(state).drop_front().getTypes());
  Values last = b.repeat(state, head, next, types);
  return add(last, /*isLast=*/true).first;
}
