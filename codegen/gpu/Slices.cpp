//===- Slices.cpp - what follows a pipeline's sums, some columns at a time ===//
//
// A block of 128 × 256 sums takes 128 registers of a thread. A bias and a residual beside them
// would take as many again, and some of it would go to memory. So the ops that follow
// are emitted for 64 columns at most, then for the next: each makes only registers of those, and
// what was made for columns before is stored by then. What is loaded is asked for a slice ahead,
// the first while the last product runs.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

static bool isTile(Value value) { return !axesOf(value.getType()).empty(); }

/// Of an op, or of one in it.
static bool hasTile(Operation *op) {
  auto found = op->walk([](Operation *inner) {
    bool has =
        llvm::any_of(inner->getOperands(), isTile) || llvm::any_of(inner->getResults(), isTile);
    return has ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool KernelLowering::isInSlice(Axes axes, const Layout &layout, int64_t reg) const {
  if (!slice)
    return true;
  const auto *found = llvm::find(axes, slice->axis);
  if (found == axes.end()) // made once
    return slice->begin == 0;
  int64_t place = layout.ofRegister(reg)[found - axes.begin()];
  return place >= slice->begin && place < slice->end;
}

/// Whether it makes each register of its tiles by itself; or has none.
static bool isSliced(Operation *op) {
  if (!hasTile(op) || isa<LoadOp, SendOp, BroadcastOp, CoordsOp, arith::ConstantOp>(op))
    return true;
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getDrops();
  bool isAngle = isa<math::SinOp, math::CosOp, math::TanOp>(op);
  return (op->hasTrait<OpTrait::Elementwise>() || isa<arith::SelectOp>(op)) && !isAngle &&
         op->getNumRegions() == 0;
}

/// Of the ops that follow the sums, loads of tiles, and what those need: they depend on nothing
/// else there, nor on the sums.
static SmallVector<Operation *> findLoads(Operation *sums, ArrayRef<Operation *> ops) {
  SmallPtrSet<Operation *, 16> others = {sums};
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

void KernelLowering::emitSlice(ArrayRef<Operation *> ops, int64_t number) {
  int64_t width = slices.width;
  slice = Slice{slices.axis, number * width, (number + 1) * width};
  for (Operation *op : ops) {
    if (failed)
      break;
    b.setLoc(op->getLoc());
    currentOp = op;
    if (hasTile(op) || number == 0)
      emitOp(op);
  }
  slice.reset();
}

/// How many bits of a column's element loads bring.
static unsigned bitsOf(ArrayRef<Operation *> loads) {
  unsigned bits = 0;
  for (Operation *op : loads)
    if (auto load = dyn_cast<LoadOp>(op); load && axesOf(load.getType()).size() > 1)
      bits += getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth();
  return bits;
}

void KernelLowering::planSlices(Operation *sums) {
  constexpr int64_t widest = 64;
  constexpr unsigned mostAhead = 32; // bits of a column's element
  slices = {};
  Type tile = sums->getResult(0).getType();
  SmallVector<Operation *> ops;
  for (Operation *op = sums->getNextNode(); op; op = op->getNextNode())
    ops.push_back(op);
  int64_t columns = layoutOf(tile).extentOfBlock(1), width = std::min(widest, columns & -columns);
  if (columns <= widest || watches || !llvm::all_of(ops, isSliced))
    return;
  SmallVector<Operation *> loads = findLoads(sums, ops);
  if (bitsOf(loads) > mostAhead) // too much for what two slices have at a time
    loads.clear();
  slices = {axesOf(tile)[1], width, columns / width, std::move(loads), {}};
  llvm::copy_if(ops, std::back_inserter(slices.rest),
                [&](Operation *op) { return !llvm::is_contained(slices.loads, op); });
}

void KernelLowering::emitSlices() {
  for (int64_t n = 0; n < slices.count; ++n) {
    if (n + 1 < slices.count)
      emitSlice(slices.loads, n + 1);
    emitSlice(slices.rest, n);
  }
}
