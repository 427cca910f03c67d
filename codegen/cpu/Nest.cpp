//===- Nest.cpp - loop nests that pull values in --------------------------===//

#include "codegen/Neighbours.h"
#include "codegen/cpu/ChooseTiles.h"
#include "codegen/cpu/Lowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

//===-- Loops -------------------------------------------------------------===//

std::pair<Value, Value> BodyLowering::rangeOf(StringAttr axis) {
  auto found = blocks.find(axis);
  return found != blocks.end() ? found->second : wholeRange(axis.getValue());
}

CodeBuilder::Values BodyLowering::rounds(const Range &range, Value from, Value to, Round round,
                                         ValueRange inits, Block *before, LevelBody body) {
  if (round.mayFill)
    return filledRounds(range, from, to, round, inits, before, body);
  Value step = b.i64(int64_t(range.width) * round.vectors);
  return b.loop(from, to, step, inits, [&](Value index, ValueRange values) {
    Values next, state(values);
    SmallVector<Draws, 1> draws;
    for (int c = 0; c < round.vectors; ++c) {
      Level &level = levels.emplace_back();
      level.axis = range.axis;
      level.coordinate = b.add(index, b.i64(c * range.width));
      level.width = range.width;
      if (round.isTail)
        level.laneMask = firstLanes(b.sub(range.hi, index), range.width);
      level.before = before;
      level.copy = c;
      level.copies = round.vectors;
      level.draws = std::move(draws);
      size_t each = values.size() / round.vectors;
      if (round.isChain)
        state = body(state);
      else
        llvm::append_range(next, body(values.slice(c * each, each)));
      draws = std::move(levels.back().draws);
      levels.pop_back();
    }
    return round.isChain ? state : next;
  });
}

std::pair<int64_t, int64_t> BodyLowering::shortRange(Value from, Value to) const {
  constexpr int64_t mostUnrolled = 4, mostCopies = 16; // of an axis; of what is in all of them
  APInt first, last;
  if (lanesHere() == 1 || !matchPattern(from, m_ConstantInt(&first)) ||
      !matchPattern(to, m_ConstantInt(&last)) || (last - first).slt(2) ||
      (last - first).sgt(mostUnrolled) || unrolled * (last - first).getSExtValue() > mostCopies)
    return {0, 0};
  return {first.getSExtValue(), (last - first).getSExtValue()};
}

CodeBuilder::Values BodyLowering::level(StringAttr axis, Value lo, Value hi, int width,
                                        ValueRange carried, LevelBody body, const Unroll *unroll,
                                        int vectors) {
  Range range = {axis, lo, hi, width};
  Round many = {.vectors = width > 1 ? vectors : 1, .isChain = true};
  if (unroll && unroll->copies > 1)
    many = {.vectors = unroll->copies};
  const bool isCut = cuts.axis == axis && !cuts.values.empty();
  if (isCut) {
    int64_t step = int64_t(width) * many.vectors;
    cuts.step = b.i64(step);
    if (unroll && unroll->chain) // each of which begins with what is filled
      cuts.length = std::min(cuts.length, unroll->chain * step);
  }
  many.mayFill = isCut;
  auto wholeSteps = [&](int64_t step) { // a power of two
    Value length = b.sub(hi, lo);
    return b.sub(hi, b.fold<arith::AndIOp>(length, b.i64(step - 1)));
  };
  // Whole vectors, then what is left as one masked vector: the same code. At most
  // one round, as a loop: the shape that nests need.
  auto singleRounds = [&](Value from, Values sums, bool mayFill = false) {
    auto run = [&](Value from, Value to, bool isTail) {
      Round one = {.isTail = isTail, .mayFill = mayFill && !isTail};
      sums = rounds(range, from, to, one, sums, b.getInsertionBlock(), body);
    };
    if (width == 1) {
      // Inside of lanes, each coordinate of an axis that is known to be short has code of its own.
      auto [first, count] = shortRange(from, hi);
      if (count == 0)
        run(from, hi, false);
      unrolled *= std::max<int64_t>(1, count);
      for (int64_t n = 0; n < count; ++n)
        run(b.i64(first + n), b.i64(first + n + 1), false);
      unrolled /= std::max<int64_t>(1, count);
      return sums;
    }
    Value full = wholeSteps(width);
    run(from, full, false);
    APInt known;
    if (!matchPattern(b.sub(hi, full), m_ConstantInt(&known)) || !known.isZero())
      run(full, hi, true);
    return sums;
  };
  Value end = wholeSteps(int64_t(width) * many.vectors);
  auto oneChain = [&](ValueRange first) {
    if (many.vectors == 1)
      return singleRounds(lo, Values(first), many.mayFill);
    auto several = [&](Values sums) {
      return rounds(range, lo, end, many, sums, b.getInsertionBlock(), body);
    };
    if (many.isChain)
      return singleRounds(end, several(Values(first)));
    auto copies = [&] {
      Values sums(first);
      for (int c = 1; c < many.vectors; ++c)
        llvm::append_range(sums, unroll->start);
      apart([&] { sums = joinCopies(*unroll, several(sums)); });
      return sums;
    };
    // What is too short for them has none to join.
    auto none = [&] {
      if (isCut)
        fillCuts(range, lo);
      return Values(first);
    };
    Value isLong = b.compare(CmpIPredicate::slt, lo, end);
    return singleRounds(end, b.branch(isLong, copies, none));
  };
  if (!unroll || !unroll->chain)
    return oneChain(carried);
  auto lastChain = [&](Values &all) {
    return singleRounds(end, chains(range, end, many, body, *unroll, all));
  };
  if (!unroll->isAlone)
    return addRow(*unroll, carried, lastChain);
  Values all(carried), last = lastChain(all);
  auto close = [&] { return unroll->close(unroll->add(all, last)); };
  if (!unroll->mayBeShort)
    return close();
  Value length = b.i64(unroll->chain * width * unroll->copies);
  Value isLong = b.compare(CmpIPredicate::slt, length, b.sub(end, lo));
  return b.branch(isLong, close, [&] { return last; });
}

void BodyLowering::at(StringAttr axis, Value coordinate, llvm::function_ref<void()> body) {
  Level &level = levels.emplace_back();
  level.axis = axis;
  level.coordinate = coordinate;
  level.before = b.getInsertionBlock();
  level.isPlace = true;
  body();
  levels.pop_back();
}

Value BodyLowering::firstLanes(Value count, int width) {
  // In 32 bits: one comparison, however far `count` is beyond the lanes.
  Value few = b.minS(b.maxS(count, b.i64(0)), b.i64(width));
  Value narrow = b.fold<arith::TruncIOp>(b.getI32Type(), few);
  SmallVector<int32_t> lanes = llvm::to_vector(llvm::seq<int32_t>(0, width));
  Value iota = arith::ConstantOp::create(b, b.getI32VectorAttr(lanes));
  return b.compare(CmpIPredicate::slt, iota, narrow);
}

void BodyLowering::apart(llvm::function_ref<void()> body) {
  auto known = llvm::map_to_vector(
      levels, [](const Level &level) { return std::pair(level.known, level.draws); });
  body();
  for (auto [level, before] : llvm::zip(levels, known))
    std::tie(level.known, level.draws) = std::move(before);
}

CodeBuilder::Values BodyLowering::nest(Axes axes, StringAttr vectorAxis, ValueRange carried,
                                       LevelBody body, const Unroll *unroll, int vectors) {
  nests += levels.empty();
  if (axes.empty())
    return body(carried);
  StringAttr axis = axes.front();
  auto [lo, hi] = rangeOf(axis);
  int width = axis == vectorAxis ? lanesAlong(axis) : 1;
  if (axes.size() == 1)
    return level(axis, lo, hi, width, carried, body, unroll, vectors);
  return level(axis, lo, hi, width, carried, [&](ValueRange values) {
    return nest(axes.drop_front(), vectorAxis, values, body, unroll, vectors);
  });
}

//===-- The vector axis ---------------------------------------------------===//

namespace {
enum class Stride { None, Unit, Other };

Stride strideIn(AffineExpr expr, ValueRange dims, StringAttr axis) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value value = dims[dim.getPosition()];
    if (isa<SpanType>(value.getType()))
      return axisOf(value) == axis ? Stride::Unit : Stride::None;
    return llvm::is_contained(axesOf(value.getType()), axis) ? Stride::Other : Stride::None;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return Stride::None;
  Stride left = strideIn(binary.getLHS(), dims, axis),
         right = strideIn(binary.getRHS(), dims, axis);
  if (left == Stride::None && right == Stride::None)
    return Stride::None;
  if (expr.getKind() == AffineExprKind::Add && (left == Stride::None || right == Stride::None))
    return left == Stride::None ? right : left;
  return Stride::Other;
}

Stride strideOf(MemRefType type, AffineMap map, ValueRange dims, StringAttr axis) {
  unsigned last = type ? innermostDimension(type) : map.getNumResults() - 1;
  Stride result = Stride::None;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    Stride stride = strideIn(expr, dims, axis);
    if (stride == Stride::None)
      continue;
    result = d == last && stride == Stride::Unit && result == Stride::None ? Stride::Unit
                                                                           : Stride::Other;
  }
  return result;
}
} // namespace

bool tile::codegen::isUnitStride(MemRefType type, AffineMap map, ValueRange dims, StringAttr axis) {
  return strideOf(type, map, dims, axis) == Stride::Unit;
}

SmallVector<StringAttr> tile::codegen::withLast(ArrayRef<StringAttr> axes, StringAttr last) {
  SmallVector<StringAttr> order(axes);
  if (llvm::is_contained(order, last)) {
    llvm::erase(order, last);
    order.push_back(last);
  }
  return order;
}

int64_t BodyLowering::extentOf(StringAttr axis) const {
  return cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
}

void tile::codegen::forEachRead(const Plan &plan, Value value,
                                llvm::function_ref<bool(Value)> isThere,
                                llvm::function_ref<void(Value)> leaf) {
  plan.forEachLeaf(value, [&](Value read) {
    if (isThere(read) || !plan.keeps(read) || read.getDefiningOp<LoadOp>())
      return leaf(read);
    for (Value operand : read.getDefiningOp()->getOperands())
      forEachRead(plan, operand, isThere, leaf);
  });
}

bool BodyLowering::isShort(StringAttr axis) const {
  int64_t extent = likelyExtentOf(axis);
  return !ShapedType::isDynamic(extent) && extent * 2 <= target.lanes();
}

bool BodyLowering::areRowsOfFew(const Memory &memory, StringAttr rows, StringAttr few) {
  int length = lengthOfFew(memory);
  if (length == 0 || rows == few || target.lanes() == 1 || lanesAlong(rows) < target.lanes())
    return false;
  APInt first, end;
  auto [lo, hi] = rangeOf(few);
  return matchPattern(lo, m_ConstantInt(&first)) && matchPattern(hi, m_ConstantInt(&end)) &&
         first.isZero() && end == length;
}

StringAttr BodyLowering::rowsOfFew(Value tensor, AffineMap map, ValueRange dims, StringAttr few) {
  if (map.getNumResults() < 2)
    return {};
  auto axisAt = [&](AffineExpr expr) -> StringAttr {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    Value place = dim ? dims[dim.getPosition()] : Value();
    return place && isa<SpanType>(place.getType()) ? axisOf(place) : StringAttr();
  };
  ArrayRef<AffineExpr> places = map.getResults();
  StringAttr rows = axisAt(places[places.size() - 2]);
  if (!rows || axisAt(places.back()) != few || !areRowsOfFew(memoryOf(tensor), rows, few))
    return {};
  for (AffineExpr outer : places.drop_back(2))
    if (strideIn(outer, dims, few) != Stride::None || strideIn(outer, dims, rows) != Stride::None)
      return {};
  return rows;
}

bool BodyLowering::paysShort(StringAttr axis, const Accesses &accesses, int cost) const {
  // A row is one short vector; or a part of one whose lanes lie apart, each of which takes about a
  // cycle where it is read or written. Of rows of few, as many vectors are picked apart.
  double extent = static_cast<double>(likelyExtentOf(axis)), lanes = target.lanes();
  constexpr double cyclesOfLane = 0.9;
  double asRow = cost + accesses.inOrder + accesses.byRows + accesses.apart * cyclesOfLane * extent;
  double asPart =
      (cost + accesses.byRows * extent) * extent / lanes + accesses.inOrder * cyclesOfLane * extent;
  return lanesAlong(axis) < lanes && asRow < asPart;
}

StringAttr BodyLowering::chooseVectorAxis(Axes candidates, ValueRange pulled,
                                          std::optional<Access> written, const Buffer *into,
                                          bool mayBeShort) {
  StringAttr best;
  int bestScore = 0;
  auto isThere = [&](Value value) { return bufferOf(value) != nullptr; };
  auto isKnownShort = [&](StringAttr axis) {
    return isShort(axis) && lanesAlong(axis) < target.lanes();
  };
  bool hasKnownShort = llvm::any_of(candidates, isKnownShort),
       hasLong = !llvm::all_of(candidates, [&](StringAttr axis) { return isShort(axis); });
  for (StringAttr axis : candidates) {
    int score = 1; // without any access at all, lanes are still worth it
    Accesses accesses;
    int cost = 0;
    auto addStride = [&](Stride stride, int weight, bool isByRows = false) {
      (stride == Stride::Other ? accesses.apart
       : isByRows              ? accesses.byRows
                               : accesses.inOrder) += stride != Stride::None;
      score += stride == Stride::Unit ? weight : stride == Stride::Other ? -weight : 0;
    };
    auto addBuffer = [&](const Buffer &buffer, int weight) {
      if (llvm::is_contained(buffer.axes, axis))
        addStride(buffer.axes.back() == axis ? Stride::Unit : Stride::Other, weight);
    };
    for (Value value : pulled) {
      cost += plan.costOf(value);
      // Lanes that have to be gathered pay where enough is computed of them.
      if (llvm::is_contained(axesOf(value.getType()), axis))
        score += plan.costOf(value) / 4;
      forEachRead(plan, value, isThere, [&](Value leaf) {
        if (Buffer *buffer = bufferOf(leaf))
          addBuffer(*buffer, 4);
        else if (auto load = leaf.getDefiningOp<LoadOp>())
          addStride(strideOf(cast<MemRefType>(load.getSource().getType()), load.getMap(),
                             load.getDims(), axis),
                    4,
                    memoryOf(load.getSource()).isInvariant &&
                        load.getBounds() != BoundsMode::clamp &&
                        domains.restrictsOn(axesOf(load.getType())).empty() &&
                        rowsOfFew(load.getSource(), load.getMap(), load.getDims(), axis));
      });
    }
    if (written) {
      auto type = written->tensor ? cast<MemRefType>(written->tensor.getType()) : MemRefType();
      addStride(strideOf(type, written->map, written->dims, axis), 8,
                written->mayGoByRows &&
                    rowsOfFew(written->tensor, written->map, written->dims, axis));
    }
    if (into)
      addBuffer(*into, 6);
    if (isKnownShort(axis) && hasLong)
      score = (written || mayBeShort) && paysShort(axis, accesses, cost) ? std::max(score, 2) : 0;
    else if (isShort(axis))
      score = likelyExtentOf(axis) == 1 ? 0 : std::min(score, 1);
    else if (hasKnownShort)
      score = std::max(score, 1);
    if (score >= bestScore && score > 0) {
      best = axis;
      bestScore = score;
    }
  }
  return best;
}

//===-- Where values belong -----------------------------------------------===//

int BodyLowering::levelOf(Axes axes) const {
  for (int n = static_cast<int>(levels.size()) - 1; n >= 0; --n)
    if (llvm::is_contained(axes, levels[n].axis))
      return n;
  return -1;
}

CodeBuilder::Values BodyLowering::branchHere(Value condition, CodeBuilder::Branch then,
                                             CodeBuilder::Branch otherwise) {
  CodeBuilder::Values results = b.branch(condition, then, otherwise);
  // A place goes on where the branches meet. They read alone: what they emitted would be known
  // outside, too.
  for (Level &level : llvm::reverse(levels)) {
    if (!level.isPlace)
      break;
    level.before = b.getInsertionBlock();
  }
  return results;
}

void BodyLowering::moveTo(int level) {
  if (level + 1 < static_cast<int>(levels.size()))
    b.setInsertionPointToEnd(levels[level + 1].before);
}

int BodyLowering::lanesHere() const {
  int width = 1;
  for (const Level &level : levels)
    width = std::max(width, level.width);
  return width;
}

int BodyLowering::widthAt(Axes axes) const {
  int width = 1;
  for (const Level &level : levels)
    if (llvm::is_contained(axes, level.axis))
      width = std::max(width, level.width);
  return width;
}

Lanes BodyLowering::coordinateOf(StringAttr axis) const {
  for (const Level &level : llvm::reverse(levels))
    if (level.axis == axis)
      return {level.coordinate, level.width > 1};
  llvm_unreachable("the nest has no loop over this axis");
}

//===-- Masks -------------------------------------------------------------===//

/// The coefficient of a dim in a sum of products by constants; none where it stands otherwise.
static std::optional<int64_t> coefficientOf(unsigned dim, AffineExpr expr) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add) {
    auto left = coefficientOf(dim, binary.getLHS()), right = coefficientOf(dim, binary.getRHS());
    return left && right ? std::optional(*left + *right) : std::nullopt;
  }
  if (expr.getKind() != AffineExprKind::Mul)
    return {};
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  auto left = coefficientOf(dim, binary.getLHS());
  return factor && left ? std::optional(*left * factor.getValue()) : std::nullopt;
}

/// The lanes in which expr ≥ 0, where it is a lane less one for each; null where it is not.
Value BodyLowering::holdsUpTo(AffineExpr expr, ArrayRef<Lanes> dims, ArrayRef<Value> syms) {
  std::optional<unsigned> counting;
  for (auto [d, lanes] : llvm::enumerate(dims))
    if (lanes.counts || widthOf(lanes.value) > 1) {
      if (counting || !lanes.counts)
        return {};
      counting = d;
    }
  if (!counting || coefficientOf(*counting, expr) != -1)
    return {};
  SmallVector<Lanes> first(dims);
  first[*counting].counts = false;
  Value atFirst = evaluate(expr, first, syms).value;
  return firstLanes(b.add(atFirst, b.i64(1)), lanesHere());
}

Value BodyLowering::emitRestrict(RestrictOp op) {
  SmallVector<StringAttr> axes = llvm::map_to_vector(op.getDims(), axisOf);
  int level = levelOf(axes);
  assert(level >= 0 && "a restrict names a span of the nest");
  if (Value known = levels[level].known.lookup(op.getOperation()))
    return known;
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore moved(hasMoved, true);
  moveTo(level);
  SmallVector<Lanes> dims =
      llvm::map_to_vector(axes, [&](StringAttr axis) { return coordinateOf(axis); });
  SmallVector<Value> syms =
      llvm::map_to_vector(op.getSyms(), [&](Value sym) { return scalar(sym); });
  IntegerSet set = op.getConstraint();
  Value holds = set.isEq(0) ? Value() : holdsUpTo(set.getConstraint(0), dims, syms);
  if (!holds) {
    Value expr = materialize(evaluate(set.getConstraint(0), dims, syms), lanesHere());
    holds = b.compare(set.isEq(0) ? CmpIPredicate::eq : CmpIPredicate::sge, expr, b.i64(0));
  }
  if (op.getUnless())
    holds = b.either(holds, scalar(op.getUnless()));
  levels[level].known[op.getOperation()] = holds;
  return holds;
}

Value BodyLowering::restrictMask(Axes axes) {
  Value mask;
  for (RestrictOp restrict : domains.restrictsOn(axes))
    mask = b.both(mask, emitRestrict(restrict));
  return mask;
}

Value BodyLowering::tailMask(Axes axes) const {
  for (const Level &level : levels)
    if (level.laneMask && llvm::is_contained(axes, level.axis))
      return level.laneMask;
  return {};
}

Value BodyLowering::domainMask(Axes axes) { return b.both(restrictMask(axes), tailMask(axes)); }

//===-- Values ------------------------------------------------------------===//

Lanes BodyLowering::indexOf(Value dim) {
  if (isa<SpanType>(dim.getType()))
    return coordinateOf(axisOf(dim));
  Value index = emit(dim);
  Type wide = lanesOf(b.getI64Type(), widthOf(index));
  return {index.getType() == wide ? index : Value(arith::ExtSIOp::create(b, wide, index))};
}

Value BodyLowering::emit(Value value) {
  Axes axes = axesOf(value.getType());
  if (axes.empty())
    return scalar(value);
  int level = levelOf(axes);
  if (Value known = levels[level].known.lookup(value.getAsOpaquePointer()))
    return known;
  // Where the place stays, a value may leave the builder in another block.
  std::optional<OpBuilder::InsertionGuard> guard;
  std::optional<llvm::SaveAndRestore<bool>> moved;
  if (level + 1 < static_cast<int>(levels.size())) {
    guard.emplace(b);
    moved.emplace(hasMoved, true);
    moveTo(level);
  }
  Value result = emitTile(value);
  levels[level].known[value.getAsOpaquePointer()] = result;
  return result;
}

Value BodyLowering::emitTile(Value value) {
  Buffer *buffer = bufferOf(value);
  if (buffer && !readsRows(value)) {
    if (!buffer->ringFrom) // else this nest has filled it
      prefetchBehind(value);
    return readBuffer(*buffer);
  }
  Operation *op = value.getDefiningOp();
  assert(op && "carried tiles have buffers");
  Axes axes = axesOf(value.getType());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](BroadcastOp broadcast) { return emit(broadcast.getInput()); })
      .Case([&](CoordsOp coords) {
        return materialize(coordinateOf(axisOf(coords.getSpan())), widthAt(axes));
      })
      .Case([&](arith::ConstantOp constant) { return emitConstant(b, constant.getValue()); })
      .Case([&](PhiloxOp philox) {
        if (Value draws = emitDraws(philox))
          return draws;
        SmallVector<Value> operands =
            llvm::map_to_vector(op->getOperands(), [&](Value operand) { return emit(operand); });
        return emitElementwise(b, target, op, operands);
      })
      .Case([&](LoadOp load) {
        auto dimValue = [&](Value dim) { return indexOf(dim); };
        if (!buffer)
          prefetch(load);
        return emitLoad(load, dimValue, widthAt(axes), domainMask(axes));
      })
      .Default([&](Operation *) {
        llvm::SaveAndRestore behind(costBehind, costBehind + costOf(op));
        // The dearest first: by way of it costBehind is what counts for what several are made of.
        SmallVector<Value> dearest(op->getOperands());
        llvm::stable_sort(dearest,
                          [&](Value x, Value y) { return plan.costOf(x) > plan.costOf(y); });
        for (Value operand : dearest)
          emit(operand);
        SmallVector<Value> operands =
            llvm::map_to_vector(op->getOperands(), [&](Value operand) { return emit(operand); });
        llvm::SaveAndRestore branches(b.mayBranch, mayBranch());
        return emitElementwise(b, target, op, operands);
      });
}
