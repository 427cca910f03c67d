//===- Prefetch.cpp - what the next program reads -------------------------===//
//
// A kernel that reads its rows more than once waits for memory in the first nest
// and leaves it idle in the others. So the second nest over a row asks for the
// row of the next program, which then comes while this one is computed. A kernel
// that transposes goes through blocks whose rows are a few lines, which no core
// reads ahead: it asks for those of the next program's block.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

/// Longer rows would push out the one that is being worked on.
static constexpr int64_t maxRowBytes = 256 << 10;

/// How many elements the next program's place is from this one's; null if that is no constant of
/// the launch.
Value BodyLowering::distanceToNext(LoadOp op) {
  ParallelOp parallel = kernel.getParallel();
  SmallVector<unsigned> order = programOrder();
  if (order.empty())
    return {};
  Value fastest = parallel.getBody().getArgument(order.back());
  ValueRange operands[] = {op.getDims(), op.getSyms()};
  Memory memory = memoryOf(op.getSource());
  Value distance;
  for (auto [d, expr] : llvm::enumerate(op.getMap().getResults())) {
    Value place;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      place = operands[0][dim.getPosition()];
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      place = operands[1][symbol.getPosition()];
    if (place == fastest)
      distance = b.mul(memory.strides[d], b.i64(parallel.getSizes()[order.back()]));
  }
  return distance;
}

void BodyLowering::prefetchNext(LoadOp op) {
  auto [reads, isFirst] = readsOf.try_emplace(op, Reads{nests, 0});
  auto &[first, prefetching] = reads->second;
  bool isSecond = !isFirst && nests != first && (!prefetching || nests == prefetching);
  // The level with lanes; inside it `at` may have chosen one coordinate of another axis.
  auto vectors = llvm::find_if(llvm::reverse(levels), [](const Level &l) { return l.width > 1; });
  const Level &inner = vectors == levels.rend() ? levels.back() : *vectors;
  Memory memory = memoryOf(op.getSource());
  bool isInOrder = inner.width > 1 && !inner.laneMask && memory.isInvariant &&
                   op.getBounds() == BoundsMode::exact &&
                   isUnitStride(cast<MemRefType>(op.getSource().getType()), op.getMap(),
                                op.getDims(), inner.axis);
  bool isRow = !domains.isBlock(inner.axis.getValue());
  if (!isInOrder || (isRow ? !isSecond : !plan.transposes()))
    return;
  Value distance;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    distance = distanceToNext(op);
    if (!distance)
      return;
    int64_t elementBytes = memoryType(memory.element).getIntOrFloatBitWidth() / 8;
    Value pays = isRow
                     ? b.compare(CmpIPredicate::sle, memory.extents.back(),
                                 b.i64(maxRowBytes / elementBytes))
                     : b.compare(CmpIPredicate::sge, bytesOf(memory), b.i64(target.scatteredBytes));
    distance = b.select(pays, distance, b.i64(0)); // what is there already costs little
  }
  SmallVector<Lanes> indices =
      indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
  Place place = locate(memory, indices, inner.width);
  if (!place.offset.counts)
    return;
  prefetching = nests;
  Type element = memoryType(memory.element);
  Value next = b.at(b.at(place.pointer, distance, element), place.offset.value, element);
  b.prefetch(next, CodeBuilder::secondLevel);
}
