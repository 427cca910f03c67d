//===- Slices.cpp - what follows a pipeline's sums, some columns at a time ---===//
//
// A block of 128 × 256 sums takes 128 registers of a thread. A bias and a residual beside them
// would take as many again, and some of it would go to memory. So the ops that follow
// are emitted for 16 columns, then for the next: each makes only registers of those, and what was
// made for columns before is stored by then, or waits, narrow, until there are enough for a copy.
// What is loaded is asked for 64 columns at a time, as many ahead, the first while the last product
// runs.
//
// What takes all of a tile, such as a reduction along columns, comes before, with what it needs.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/lower/KernelLowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Of an op, or of one in it.
static bool hasTile(Operation *op) {
  auto found = op->walk([](Operation *inner) {
    bool has =
        llvm::any_of(inner->getOperands(), isTile) || llvm::any_of(inner->getResults(), isTile);
    return has ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Whether it makes each register of its tiles by itself; or has none.
static bool isSliced(Operation *op) {
  if (!hasTile(op) || isa<LoadOp, SendOp, BroadcastOp, CoordsOp, arith::ConstantOp>(op))
    return true;
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getDrops();
  return isElementwise(op);
}

/// Loads of tiles, and what those need: they depend on no other op here, nor on one of `others`.
static SmallVector<Operation *> findLoads(SmallPtrSet<Operation *, 16> others,
                                          ArrayRef<Operation *> ops) {
  SmallVector<Operation *> loads;
  for (Operation *op : ops) {
    bool isFree = isa<LoadOp>(op) || (!hasTile(op) && isMemoryEffectFree(op));
    bool isHere = llvm::all_of(op->getOperands(), [&](Value operand) {
      return !others.contains(operand.getDefiningOp());
    });
    if (isFree && isHere && op->getNumRegions() == 0)
      loads.push_back(op);
    else
      others.insert(op);
  }
  return loads;
}

void KernelLowering::emitNext(Operation *op) {
  if (ctx.failed)
    return;
  b.setLoc(op->getLoc());
  ctx.currentOp = op;
  ctx.emitOp(op);
}

void KernelLowering::emitSlice(ArrayRef<Operation *> ops, int64_t begin, int64_t end) {
  ctx.slice = LoweringContext::Slice{slices.axis, begin, end};
  for (Operation *op : ops)
    if (hasTile(op) || begin == 0)
      emitNext(op);
  ctx.slice.reset();
}

bool KernelLowering::haveRoomAhead(ArrayRef<Operation *> loads) {
  constexpr unsigned mostBits = 32; // of a column's element
  unsigned bits = 0;
  for (Operation *op : loads)
    if (auto load = dyn_cast<LoadOp>(op)) {
      unsigned ofElement = getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
      // Of a row a thread has half as many elements: only wide ones matter.
      if (axesOf(load.getType()).size() < 2 && ofElement <= mostBits)
        continue;
      // Rows that begin anywhere give narrow elements one by one, each with a mask.
      if (ctx.memory.registersOf(load) > layoutOf(load.getType()).numRegisters() * ofElement / 32)
        return false;
      bits += ofElement;
    }
  return bits <= mostBits;
}

/// Of the ops that follow the sums, those that take all of a tile, and what these need.
static llvm::SetVector<Operation *> findWhole(ArrayRef<Operation *> ops) {
  SmallPtrSet<Operation *, 16> needed;
  for (Operation *op : llvm::reverse(ops)) {
    if (isSliced(op) && !needed.contains(op))
      continue;
    needed.insert(op);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *made = operand.getDefiningOp())
          needed.insert(made);
    });
  }
  llvm::SetVector<Operation *> whole;
  for (Operation *op : ops)
    if (needed.contains(op))
      whole.insert(op);
  return whole;
}

void KernelLowering::planSlices(Operation *sums) {
  constexpr int64_t widest = 64, step = 16;
  slices = {};
  Type tile = sums->getResult(0).getType();
  SmallVector<Operation *> ops, others;
  for (Operation *op = sums->getNextNode(); op; op = op->getNextNode())
    ops.push_back(op);
  int64_t columns = layoutOf(tile).extentOfBlock(1), width = std::min(widest, columns & -columns);
  llvm::SetVector<Operation *> whole = findWhole(ops);
  // They go before all others.
  bool isMovable = llvm::all_of(whole, [](Operation *op) {
    return isa<LoadOp>(op) || (isMemoryEffectFree(op) && op->getNumRegions() == 0);
  });
  if (columns <= step || width < step || ctx.watches || !isMovable)
    return;
  llvm::copy_if(ops, std::back_inserter(others),
                [&](Operation *op) { return !whole.contains(op); });
  SmallPtrSet<Operation *, 16> before(whole.begin(), whole.end());
  before.insert(sums);
  SmallVector<Operation *> loads = findLoads(std::move(before), others);
  if (!haveRoomAhead(loads))
    loads.clear();
  slices = {axesOf(tile)[1], columns, width, step, whole.takeVector(), std::move(loads), {}};
  llvm::copy_if(others, std::back_inserter(slices.rest),
                [&](Operation *op) { return !llvm::is_contained(slices.loads, op); });
}

void KernelLowering::emitFirstLoads() { emitSlice(slices.loads, 0, slices.width); }

void KernelLowering::emitSlices() {
  for (Operation *op : slices.whole)
    emitNext(op);
  for (int64_t begin = 0; begin < slices.columns; begin += slices.step) {
    int64_t next = begin + slices.width;
    if (begin % slices.width == 0 && next < slices.columns)
      emitSlice(slices.loads, next, next + slices.width);
    emitSlice(slices.rest, begin, begin + slices.step);
  }
}
