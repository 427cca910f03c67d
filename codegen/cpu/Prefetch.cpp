//===- Prefetch.cpp - what the next program reads -------------------------===//
//
// A kernel that reads its rows more than once waits for memory in the first nest
// and leaves it idle in the others. So the second nest over a row asks for the
// row of the next program, which then comes while this one is computed. A kernel
// that transposes goes through blocks whose rows are a few lines, which no core
// reads ahead: it asks for those of the next program's block; and so does a product
// whose short rows lie apart, as those of a head do that stand beside other heads, or
// whose program has sums to make besides. A nest that reads what is kept of a row asks
// for what that was computed of. And one that computes much of each element asks for
// those of its own rounds, or, where its block is narrow, for the next program's: a core
// reads ahead as far as its window reaches, which such arithmetic fills.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

/// Longer rows would push out the one that is being worked on.
static constexpr int64_t maxRowBytes = 256 << 10;

/// Longer ones a core reads ahead by itself, wherever they begin, while it reads them first.
static constexpr int64_t maxApartBytes = 1 << 10;

/// Much is computed of an element from one function on, which counts for so many rough additions.
/// A core (Intel, AVX-512) that makes 16 multiply-adds of each line reads as fast by itself as
/// where it is asked to, one that makes 30 up to 2.4 times slower (docs/performance.md).
static constexpr int muchBehind = 16;
/// This far ahead it is asked for then: 32 lines, on which such arithmetic works for 140 ns or
/// more.
static constexpr int64_t bytesAhead = 2 << 10;

/// Whether a scalar is the binder's, or computed of it.
static bool isMadeOf(Value value, Value binder) {
  llvm::SmallSetVector<Value, 8> open;
  open.insert(value);
  for (size_t n = 0; n < open.size() && open[n] != binder; ++n)
    if (Operation *op = open[n].getDefiningOp(); op && op->getNumRegions() == 0 && !isa<LoadOp>(op))
      open.insert(op->operand_begin(), op->operand_end());
  return open.contains(binder);
}

/// Whether the rows that a program multiplies lie apart: what is next to one is another program's.
/// Programs that do little with them are soon at the next ones by themselves.
static bool hasRowsApart(LoadOp op) {
  ArrayRef<AffineExpr> places = op.getMap().getResults();
  auto isOfBlock = [&](AffineExpr place) {
    auto dim = dyn_cast<AffineDimExpr>(place);
    return dim && isa<SpanType>(op.getDims()[dim.getPosition()].getType());
  };
  auto findProduct = [](DotOp) { return WalkResult::interrupt(); };
  return places.size() > 2 && !isOfBlock(places.drop_back().back()) &&
         llvm::any_of(places.drop_back(2), isOfBlock) &&
         op->getParentOfType<KernelOp>().walk(findProduct).wasInterrupted();
}

/// Whether a program reads a block of its own at once, for a product, and then goes over tiles that
/// it has, for which memory isn't needed: a core reads ahead only while it reads. What is
/// multiplied with few rows is soon needed again, and a program that only multiplies always reads.
bool BodyLowering::isReadAtOnce(LoadOp op) {
  if (op.getMap().getNumResults() <= 2)
    return false; // its rows follow those of the next program
  constexpr int64_t manyRows = 8;
  Axes axes = axesOf(op.getType());
  auto rowsOf = [&](DotOp dot) {
    int64_t rows = 1;
    for (StringAttr axis : axesOf(dot.getType())) {
      int64_t extent = likelyExtentOf(axis);
      if (!llvm::is_contained(axes, axis))
        rows = std::min(manyRows, rows * (ShapedType::isDynamic(extent) ? manyRows : extent));
    }
    return rows;
  };
  bool isReused = false, hasSweep = false;
  kernel.walk([&](Operation *other) {
    hasSweep |= isa<AlongAxes>(other) && !isa<DotOp>(other);
    auto dot = dyn_cast<DotOp>(other);
    if (!dot || isReused || rowsOf(dot) < manyRows)
      return;
    auto isOp = [&](Value value) { isReused |= value.getDefiningOp() == op; };
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      plan.forEachPulled(operand, isOp);
  });
  return isReused && hasSweep;
}

/// How many elements the places of neighbours along a binder are apart; null if they are the same.
/// A number that is computed of the binder is taken to be the next one.
Value BodyLowering::distanceAlong(LoadOp op, unsigned binder) {
  ParallelOp parallel = kernel.getParallel();
  ValueRange operands[] = {op.getDims(), op.getSyms()};
  Memory memory = memoryOf(op.getSource());
  Value distance;
  for (auto [d, expr] : llvm::enumerate(op.getMap().getResults())) {
    Value place;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      place = operands[0][dim.getPosition()];
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      place = operands[1][symbol.getPosition()];
    if (place && isMadeOf(place, parallel.getBody().getArgument(binder)))
      distance = b.mul(memory.strides[d], b.i64(parallel.getSizes()[binder]));
  }
  return distance;
}

/// How many elements the next program's place is from this one's, where both have the same place
/// along all other axes; null if no axis moves it.
Value BodyLowering::distanceToNext(LoadOp op) {
  ParallelOp parallel = kernel.getParallel();
  Value distance, none = b.i64(0);
  for (unsigned n : programOrder()) { // the last one that has several decides
    Value along = distanceAlong(op, n);
    if (!along && !distance)
      continue;
    Value extent = b.sub(scalar(parallel.getUpper()[n]), scalar(parallel.getLower()[n]));
    Value hasSeveral = b.compare(CmpIPredicate::sgt, extent, b.i64(parallel.getSizes()[n]));
    distance = b.select(hasSeveral, along ? along : none, distance ? distance : none);
  }
  return distance;
}

bool BodyLowering::isReadInOrder(LoadOp op, const Level &lanes) {
  return lanes.width > 1 && !lanes.laneMask && memoryOf(op.getSource()).isInvariant &&
         op.getBounds() == BoundsMode::exact &&
         isUnitStride(cast<MemRefType>(op.getSource().getType()), op.getMap(), op.getDims(),
                      lanes.axis);
}

/// Asks for what is so many elements behind what the load reads; false where its lanes' places
/// aren't neighbours.
bool BodyLowering::prefetchBy(Value distance, LoadOp op, int width, CodeBuilder::CacheLevel into) {
  Memory memory = memoryOf(op.getSource());
  SmallVector<Lanes> indices =
      indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
  Place place = locate(memory, indices, width);
  if (!place.offset.counts)
    return false;
  Type element = memoryType(memory.element);
  b.prefetch(b.at(b.at(place.pointer, distance, element), place.offset.value, element), into);
  return true;
}

void BodyLowering::prefetch(LoadOp op) {
  if (asksAhead)
    if (auto [reads, isFirst] = readsOf.try_emplace(op); isFirst) {
      reads->second.firstNest = nests;
      reads->second.isApart = hasRowsApart(op) || isReadAtOnce(op);
    }
  // The level with lanes; inside it `at` may have chosen one coordinate of another axis.
  auto vectors = llvm::find_if(llvm::reverse(levels), [](const Level &l) { return l.width > 1; });
  const Level &lanes = vectors == levels.rend() ? levels.back() : *vectors;
  if (!isReadInOrder(op, lanes))
    return;
  bool isDear = costBehind >= muchBehind;
  bool isAhead = isDear && prefetchAhead(op, lanes);
  if (asksAhead)
    prefetchNext(op, lanes, isDear && !isAhead);
}

/// False where others read what is so far ahead.
bool BodyLowering::prefetchAhead(LoadOp op, const Level &lanes) {
  auto loops = ArrayRef(levels).take_front(levelOf(axesOf(op.getType())) + 1);
  auto round = llvm::find_if(llvm::reverse(loops), [](const Level &l) { return !l.isPlace; });
  if (round->axis != lanes.axis)
    return true; // down the rows, which a core follows
  int64_t elementBytes = memoryType(memoryOf(op.getSource()).element).getIntOrFloatBitWidth() / 8;
  int64_t distance = bytesAhead / elementBytes, extent = extentOf(lanes.axis);
  // Behind the rows of a narrow block is what other programs read.
  bool isNarrow = domains.isBlock(lanes.axis.getValue()) && !ShapedType::isDynamic(extent) &&
                  extent < distance && loops.size() > 1;
  if (!isNarrow)
    prefetchBy(b.i64(distance), op, lanes.width, CodeBuilder::firstLevel);
  return !isNarrow;
}

void BodyLowering::prefetchNext(LoadOp op, const Level &lanes, bool isDear) {
  Reads &reads = readsOf[op];
  bool isSecond =
      nests != reads.firstNest && (!reads.prefetchingNest || nests == reads.prefetchingNest);
  Memory memory = memoryOf(op.getSource());
  bool isRow = !domains.isBlock(lanes.axis.getValue()), isApart = isRow && reads.isApart;
  bool isEarly = isApart && nests == reads.firstNest; // for short ones; later nests ask for longer
  if (!(isEarly || (isRow ? isSecond : plan.transposes() || isDear)))
    return;
  Value &distance = isEarly ? reads.shortDistance : reads.distance;
  if (!distance) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    Value next = distanceToNext(op);
    if (!next)
      return;
    int64_t elementBytes = memoryType(memory.element).getIntOrFloatBitWidth() / 8;
    auto isUpTo = [&](int64_t bytes) {
      return b.compare(CmpIPredicate::sle, memory.extents.back(), b.i64(bytes / elementBytes));
    };
    Value pays = isEarly ? isUpTo(maxApartBytes)
                 : isRow ? isUpTo(maxRowBytes)
                 : isDear
                     ? b.i1(true)
                     : b.compare(CmpIPredicate::sge, bytesOf(memory), b.i64(target.scatteredBytes));
    distance = b.select(pays, next, b.i64(0)); // what is there already costs little
    if (!isEarly && reads.shortDistance)       // those are asked for already
      distance = b.select(isUpTo(maxApartBytes), b.i64(0), distance);
  }
  // Indices that are emitted for it may be loads of their own, after which `reads` is elsewhere.
  if (prefetchBy(distance, op, lanes.width, CodeBuilder::secondLevel) && !isEarly)
    readsOf[op].prefetchingNest = nests;
}

void BodyLowering::prefetchBehind(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || Plan::isRoot(op) || isa<LoadOp>(op))
    return;
  llvm::SaveAndRestore behind(costBehind, 0); // nothing is computed of them here
  for (Value operand : op->getOperands())
    plan.forEachLeaf(operand, [&](Value leaf) {
      auto load = leaf.getDefiningOp<LoadOp>();
      if (load && readsOf.contains(load) && !bufferOf(leaf) &&
          llvm::all_of(load.getDims(), [](Value dim) { return isa<SpanType>(dim.getType()); }))
        prefetch(load);
    });
}
