//===- DotOperands.cpp - operands of contractions, and where they are -----===//

#include "codegen/gpu/lower/Context.h"
#include "ir/transforms/LongSums.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// An operand's element as a number of the accumulator's type.
static Value toAccumulator(CodeBuilder &b, const TargetInfo &target, Value value, Type from,
                           Type to) {
  if (auto narrow = dyn_cast<FloatType>(from); narrow && isNarrowFloat(from))
    value = widenToF32(b, target, value, narrow);
  if (value.getType() == to)
    return value;
  if (isa<FloatType>(to))
    return arith::ExtFOp::create(b, to, value);
  return arith::ExtSIOp::create(b, to, value);
}

/// Whether registers without an element of the tensor hold zeros already: what is read is zero
/// where its mask doesn't hold. A mask for it again would live from the load to here.
static bool isZeroOutside(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto load = dyn_cast<LoadOp>(op))
      return !load.getPad() || matchPattern(load.getPad(), m_PosZeroFloat()) ||
             matchPattern(load.getPad(), m_Zero());
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, RoundTf32Op, ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  return false;
}

int64_t DotOperand::layOut(int64_t offset, int64_t chunk, Type type, ArrayRef<StringAttr> axes,
                           const Layout &result) {
  strides.resize(tile.axes.size());
  slots = 1;
  for (unsigned axis = tile.axes.size(); axis-- > 0;) {
    strides[axis] = slots;
    // All that the result covers is read, elements or not.
    int64_t extent = static_cast<int>(axis) == along ? chunk : tile.layout.extent(axis);
    auto found = llvm::find(axes, tile.axes[axis]);
    if (found != axes.end())
      extent = std::max(extent, result.extent(found - axes.begin()));
    slots *= extent + (axis + 1 == tile.axes.size() ? 1 : 0);
  }
  start = offset;
  // One more takes what isn't in this chunk.
  offset += llvm::alignTo((slots + 1) * type.getIntOrFloatBitWidth() / 8, 16);
  maskStart = offset;
  return hasMask ? offset + llvm::alignTo(slots + 1, 16) : offset;
}

/// Puts what an operand has of a chunk into shared memory, as numbers of the accumulator's type.
void DotOperands::storeOperand(const DotOperand &operand, Type type, Value chunkStart,
                               int64_t chunk) {
  Type i32 = b.getI32Type();
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  for (auto [r, number] : llvm::enumerate(operand.tile.registers)) {
    Index place = ctx.places.linearPlace(operand.tile.layout, r, operand.strides);
    if (chunkStart) {
      Value local = b.sub(ctx.places.localPlace(operand.tile.layout, operand.along, r), chunkStart);
      Value isHere = b.compare(arith::CmpIPredicate::ult, local, b.integer(i32, chunk));
      Value moved = b.mul(chunkStart, b.integer(i32, operand.strides[operand.along]));
      Value at = place.base ? b.sub(place.base, moved) : b.sub(b.integer(i32, 0), moved);
      at = b.add(at, b.integer(i32, place.constant));
      place = {b.select(isHere, at, b.integer(i32, operand.slots))};
    }
    Value wide = toAccumulator(b, ctx.target, number, operand.element, type);
    ctx.shared.store(operand.isZeroOutside ? wide : b.select(operand.mask[r], wide, zero),
                     ctx.shared.at(operand.base, place.base, type, place.constant));
    if (operand.hasMask)
      ctx.shared.store(operand.mask[r] ? operand.mask[r] : b.i1(true),
                       ctx.shared.at(operand.maskBase, place.base, b.getI8Type(), place.constant));
  }
}

bool DotOperands::isMadeByDots(ConvertOp op) const {
  // Sums that are added to are no factors.
  bool isFactor = llvm::all_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<DotOp>(user) && user->getBlock() == op->getBlock() && use.getOperandNumber() < 2;
  });
  return isFactor && !layoutOf(op.getInput().getType()).hasSameThreads(layoutOf(op.getType()));
}

Value DotOperands::sourceOf(DotOp op, unsigned number) const {
  Value value = op->getOperand(number);
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && isMadeByDots(convert) ? convert.getInput() : value;
}

DotOperand DotOperands::operandOf(DotOp op, unsigned number, bool hasRegisters) {
  DotOperand operand;
  Value value = op->getOperand(number), source = sourceOf(op, number);
  if (hasRegisters) {
    operand.tile = ctx.tile(source);
    operand.mask = ctx.places.domainMask(operand.tile.axes, operand.tile.layout);
  } else {
    operand.tile = {
        SmallVector<StringAttr>(axesOf(source.getType())), layoutOf(source.getType()), {}};
  }
  operand.element = getElementTypeOrSelf(value.getType());
  operand.isZeroOutside = isZeroOutside(value);
  operand.hasMask = !ctx.domains.restrictsOn(operand.tile.axes).empty();
  operand.along = operand.tile.axisIndex(op.getAxisAttr());
  return operand;
}

int64_t tile::codegen::gpu::coveredBy(ArrayRef<DotOperand> operands) {
  int64_t covered = 1;
  for (const DotOperand &operand : operands)
    covered = std::max(covered, operand.tile.layout.extent(operand.along));
  return covered;
}

/// Attention of f32 with rotary queries, 64 elements a head, 32 registers a thread: 458 µs with
/// queries that registers hold, 404 with these; with four elements, two registers, 2284 and 2380
/// (H200).
SmallVector<std::pair<DotOp, unsigned>> DotOperands::placeResidents(ForOp loop) {
  constexpr int64_t leastRegisters = 16;
  struct Placed {
    DotOp dot;
    unsigned number;
    DotOperand operand;
    Type type;
    int64_t covered;
  };
  std::vector<Placed> placed;
  SmallVector<std::pair<DotOp, unsigned>> added;
  int64_t bytes = 0, most = 0; // of those; of a contraction's operands
  // Where the loop has more than such contractions, what else goes through shared memory isn't
  // known here.
  bool isPlain = llvm::all_of(loop.getBody().front(), [](Operation &op) {
    auto dot = dyn_cast<DotOp>(op);
    return op.getNumRegions() == 0 && !(dot && warpDotOf(dot));
  });
  if (!isPlain || roundsOf(loop) == 1)
    return added;
  for (DotOp dot : loop.getBody().getOps<DotOp>()) {
    DotOperand operands[] = {operandOf(dot, 0, /*hasRegisters=*/false),
                             operandOf(dot, 1, /*hasRegisters=*/false)};
    Type type = getElementTypeOrSelf(dot.getAcc().getType());
    Axes axes = axesOf(dot.getType());
    Layout layout = axes.empty() ? Layout(0) : layoutOf(dot.getType());
    int64_t covered = coveredBy(operands), end = 0;
    for (auto [n, operand] : llvm::enumerate(operands)) {
      end = operand.layOut(end, covered, type, axes, layout);
      if (loop.getBody().isAncestor(sourceOf(dot, n).getParentRegion()) || operand.hasMask ||
          operand.tile.layout.numRegisters() < leastRegisters ||
          llvm::is_contained(operand.tile.axes, loop.getNameAttr()))
        continue;
      operand = operandOf(dot, n, /*hasRegisters=*/true);
      bytes = llvm::alignTo(operand.layOut(bytes, covered, type, axes, layout), 16);
      placed.push_back({dot, static_cast<unsigned>(n), operand, type, covered});
    }
    most = std::max(most, end);
  }
  // They need room beside a contraction's operands, all of which are there at a time.
  if (placed.empty() || ctx.shared.floor + bytes + most > std::min(ctx.room, mostSharedOfOp))
    return added;
  Value base = ctx.shared.take(bytes);
  ctx.barriers.meet(); // others may still read what was there
  for (Placed &each : placed) {
    each.operand.base = ctx.shared.at(base, Value(), b.getI8Type(), each.operand.start);
    storeOperand(each.operand, each.type, /*chunkStart=*/Value(), each.covered);
    residents[{each.dot, each.number}] = each.operand.base;
    added.emplace_back(each.dot, each.number);
  }
  ctx.barriers.meet();
  ctx.shared.floor = static_cast<int64_t>(llvm::alignTo(ctx.shared.floor + bytes, 16));
  return added;
}

//===-- As instructions of warps take them --------------------------------===//

/// How many elements of an aligned group of registers are neighbours along an axis, and begin at a
/// multiple of their number.
static int64_t alignedNeighbours(const Layout &layout, unsigned axis, int64_t most) {
  int64_t count = std::min(most, layout.contiguity(axis));
  auto isAligned = [&] {
    for (Part part : {Part::Register, Part::Lane, Part::Warp})
      for (const Layout::Coords &step : layout.bases(part))
        if (step[axis] % count != 0 && (part != Part::Register || step[axis] > count))
          return false;
    return true;
  };
  while (!isAligned())
    count /= 2;
  return count;
}

int64_t DotFragments::neighbours() const {
  constexpr int64_t access = 16;
  return alignedNeighbours(source->layout, inner, access / elementBytes());
}

void DotFragments::layOut(int64_t offset) {
  constexpr int64_t access = 16;
  unsigned rank = layout.rank();
  auto extent = [&](unsigned axis) {
    return std::max(layout.extent(axis), source->layout.extent(axis));
  };
  int64_t row = static_cast<int64_t>(llvm::alignTo(extent(inner) * elementBytes(), access));
  row += row / access % 2 == 0 ? access : 0;
  strides.assign(rank, 0);
  strides[inner] = 1;
  int64_t stride = row / elementBytes();
  for (unsigned axis = rank; axis-- > 0;)
    if (axis != inner) {
      strides[axis] = stride;
      stride *= extent(axis);
    }
  start = offset;
  bytes = stride * elementBytes();
}

int64_t DotFragments::unit() const {
  if (!isStaged || !hasMatrices())
    return perWord;
  int64_t inAtom = int64_t(1) << layout.bases(Part::Register).size();
  return std::min<int64_t>(4 * perWord, inAtom);
}

Layout DotFragments::rowsOfMatrices() const {
  Layout result(layout.rank());
  Layout::Coords none(layout.rank(), 0);
  unsigned inWord = llvm::Log2_64(perWord), inUnit = llvm::Log2_64(unit());
  for (int64_t place : {1, 2, 4}) {
    Layout::Coords step = none;
    step[isTurned() ? along : own] = place;
    result.addBasis(Part::Lane, step);
  }
  for (unsigned bit : {inWord, inWord + 1})
    result.addBasis(Part::Lane, bit < inUnit ? layout.bases(Part::Register)[bit] : none);
  for (const Layout::Coords &step : layout.bases(Part::Warp))
    result.addBasis(Part::Warp, step);
  return result;
}

DotFragments DotOperands::fragmentsOf(const DotOperand &operand, const WarpMma &mma,
                                      const Layout &layout) {
  bool isWord = mma.element.isF32();
  DotFragments made{.source = &operand.tile,
                    .element = operand.element,
                    .multiplied = mma.element,
                    .type = isWord ? b.getI32Type() : registerType(mma.element),
                    .numbers = operand.tile.registers,
                    .mask = operand.isZeroOutside ? Values() : operand.mask,
                    .layout = layout,
                    .along = static_cast<unsigned>(operand.along),
                    .own = 0,
                    .inner = static_cast<unsigned>(operand.along),
                    .perWord = mma.perRegister,
                    .isStaged = !operand.tile.layout.hasSameThreads(layout)};
  for (auto [axis, step] : llvm::enumerate(layout.bases(Part::Lane).back()))
    if (step != 0)
      made.own = axis;
  const Layout &source = operand.tile.layout;
  if (source.contiguity(made.own) > source.contiguity(made.along))
    made.inner = made.own;
  return made;
}

//===-- Brought by copies -------------------------------------------------===//

/// Where a register's vector lies in a slot.
Value DotOperands::placeInSlot(const StagedLoad &staged, Value slot, int64_t reg) {
  LoadOp load = staged.load;
  Type element = memoryType(load.getSource().getType().getElementType());
  Index place = ctx.places.linearPlace(layoutOf(load.getType()), reg, staged.strides);
  Value begin = ctx.shared.at(slot, Value(), b.getI8Type(), staged.start);
  return ctx.shared.at(begin, place.base, element, place.constant);
}

/// What this thread has copied of a turn, as registers of the load.
Values DotOperands::readStaged(const StagedOperand &operand) {
  LoadOp load = operand.staged->load;
  Type element = memoryType(load.getSource().getType().getElementType());
  int64_t width = operand.staged->width;
  Values registers;
  for (int64_t r = 0, count = layoutOf(load.getType()).numRegisters(); r < count; r += width) {
    Value address = placeInSlot(*operand.staged, operand.slot, r);
    unsigned bytes = static_cast<unsigned>(width * element.getIntOrFloatBitWidth() / 8);
    Value vector = LLVM::LoadOp::create(b, lanesOf(element, width), address, bytes);
    for (int64_t n = 0; n < width; ++n)
      registers.push_back(b.lane(vector, n));
  }
  return registers;
}
