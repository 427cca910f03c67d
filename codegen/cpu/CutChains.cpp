//===- CutChains.cpp - nests that go on some vectors behind ---------------===//
//
// Where a plan cuts a nest's chain of steps (Plan::cuts), the innermost level begins with the
// values there, for a number of vectors, and does so again whenever it has used them up. They are
// in a ring of scratch meanwhile.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

/// So many vectors are computed at a time before a cut: a first-level cache holds them with what is
/// read and written meanwhile.
static constexpr int64_t vectorsOfCut = 64, leastOfCut = 16; // of one, of many

/// It has room for twice as many as are computed at a time: what is left of a row is computed with
/// the last ones.
Buffer *BodyLowering::newRing(Value value, StringAttr axis, StringAttr vectorAxis) {
  Buffer *ring = allBuffers.emplace_back(std::make_unique<Buffer>()).get();
  Memory &memory = ring->memory;
  memory.element = getElementTypeOrSelf(value.getType());
  memory.pointer = newPanel(memory.element, {}, {2 * vectorsOfCut * target.lanes()}, 1);
  ring->axes = {axis};
  memory.extents = {b.i64(2 * cuts.length)};
  memory.strides = {b.i64(1)};
  if (axis != vectorAxis) {
    ring->axes.push_back(vectorAxis);
    memory.extents.push_back(b.i64(target.lanes()));
    memory.strides = {b.i64(target.lanes()), b.i64(1)};
  }
  return ring;
}

/// All that is left where it is less than a round more: a row's rest needs no code to fill.
void BodyLowering::fillCuts(const Range &range, Value from) {
  Cuts own;
  std::swap(own, cuts);
  for (auto &[value, ring] : own.values)
    buffers.erase(value);
  Value left = b.sub(range.hi, from), all = b.i64(own.length);
  Value isLast = b.compare(CmpIPredicate::slt, left, b.add(all, own.step));
  Value to = b.select(isLast, range.hi, b.add(from, all));
  apart([&] {
    for (auto [value, ring] : own.values) {
      ring->ringFrom = range.lo;
      auto compute = [&, value = value, ring = ring](ValueRange) {
        writeBuffer(*ring, emit(value));
        return Values();
      };
      level(range.axis, from, to, range.width, {}, compute, /*unroll=*/nullptr,
            vectorsFor(range.axis, value));
      buffers[value] = ring;
    }
  });
  std::swap(own, cuts);
}

/// At least once, as what comes behind the rounds may need what is filled. A branch in one loop
/// would have it load the constants of both parts in each round.
CodeBuilder::Values BodyLowering::filledRounds(const Range &range, Value from, Value to,
                                               Round round, ValueRange inits, Block *before,
                                               LevelBody body) {
  round.mayFill = false;
  Value length = b.i64(cuts.length), end = b.maxS(to, b.add(from, b.i64(1)));
  return b.loop(from, end, length, inits, [&](Value begin, ValueRange values) {
    fillCuts(range, begin);
    return rounds(range, begin, b.minS(b.add(begin, length), to), round, values, before, body);
  });
}

CodeBuilder::Values BodyLowering::withCuts(StringAttr axis, StringAttr vectorAxis,
                                           ValueRange pulled, llvm::function_ref<Values()> emit) {
  llvm::SmallSetVector<Value, 2> found;
  for (Value value : pulled)
    plan.forEachPulled(value, [&](Value next) {
      Axes axes = axesOf(next.getType());
      if (plan.cuts(next) && !bufferOf(next) && llvm::is_contained(axes, axis) &&
          llvm::is_contained(axes, vectorAxis))
        found.insert(next);
    });
  int64_t lanes = axis == vectorAxis ? target.lanes() : 1;
  constexpr int64_t fewVectors = 4;
  int64_t extent = axis ? cast<SpanType>(domains.spanOf(axis).getType()).getExtent() : 0;
  bool isShort = !ShapedType::isDynamic(extent) && extent <= fewVectors * lanes;
  if (found.empty() || isShort || kernel.isGrid() || target.sanitizes ||
      lanesAlong(vectorAxis) < target.lanes())
    return emit();
  SmallVector<Value> values = found.takeVector();
  llvm::sort(values, [](Value x, Value y) {
    return x != y && x.getDefiningOp()->isBeforeInBlock(y.getDefiningOp());
  });
  auto rings = static_cast<uint64_t>(values.size());
  int64_t length = lanes * std::max<int64_t>(leastOfCut, vectorsOfCut / llvm::PowerOf2Ceil(rings));
  llvm::SaveAndRestore<Cuts> restored(cuts, Cuts{axis, {}, length, {}});
  for (Value value : values)
    cuts.values.emplace_back(value, newRing(value, axis, vectorAxis));
  Values result = emit();
  for (Value value : values)
    buffers.erase(value);
  return result;
}
