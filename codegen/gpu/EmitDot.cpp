//===- EmitDot.cpp - contractions without matrix units --------------------===//
//
// Both operands go through shared memory, where each thread finds the rows and
// columns of the elements that it accumulates: all at once, or one part of the
// contracted axis after the other.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/DotOperand.h"
#include "codegen/gpu/Lowering.h"
#include "codegen/gpu/WarpMma.h"
#include "ir/LongSums.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using Values = CodeBuilder::Values;

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
void KernelLowering::storeOperand(const DotOperand &operand, Type type, Value chunkStart,
                                  int64_t chunk) {
  Type i32 = b.getI32Type();
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  for (auto [r, number] : llvm::enumerate(operand.tile.registers)) {
    Index place = linearPlace(operand.tile.layout, r, operand.strides);
    if (chunkStart) {
      Value local = b.sub(localPlace(operand.tile.layout, operand.along, r), chunkStart);
      Value isHere = b.compare(arith::CmpIPredicate::ult, local, b.integer(i32, chunk));
      Value moved = b.mul(chunkStart, b.integer(i32, operand.strides[operand.along]));
      Value at = place.base ? b.sub(place.base, moved) : b.sub(b.integer(i32, 0), moved);
      at = b.add(at, b.integer(i32, place.constant));
      place = {b.select(isHere, at, b.integer(i32, operand.slots))};
    }
    Value wide = toAccumulator(b, target, number, operand.element, type);
    storeShared(operand.isZeroOutside ? wide : b.select(operand.mask[r], wide, zero),
                sharedAt(operand.base, place.base, type, place.constant));
    if (operand.hasMask)
      storeShared(operand.mask[r] ? operand.mask[r] : b.i1(true),
                  sharedAt(operand.maskBase, place.base, b.getI8Type(), place.constant));
  }
}

SmallVector<DotRow> KernelLowering::rowsOf(const DotOperand &operand, Axes axes,
                                           const Layout &layout) {
  SmallVector<DotRow> rows;
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    DotRow row;
    for (auto [n, axis] : llvm::enumerate(operand.tile.axes)) {
      if (static_cast<int>(n) == operand.along)
        continue;
      unsigned position = llvm::find(axes, axis) - axes.begin();
      int64_t constant = layout.ofRegister(r)[position];
      row.key.push_back(constant);
      bool isSum = isAdditive(layout, position);
      Value local = isSum ? threadPlace(layout, position) : localPlace(layout, position, r);
      Value term = b.mul(local, b.integer(b.getI32Type(), operand.strides[n]));
      row.place.base = row.place.base ? b.add(row.place.base, term) : term;
      if (isSum)
        row.place.constant += constant * operand.strides[n];
    }
    rows.push_back(row);
  }
  return rows;
}

Values KernelLowering::multiplyRows(ArrayRef<DotOperand> operands,
                                    ArrayRef<SmallVector<DotRow>> rows, Type type, Value count,
                                    ValueRange acc) {
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  struct Read {
    Value number, inside;
  };
  auto readRows = [&](const DotOperand &operand, ArrayRef<DotRow> all, Value at) {
    Value step = b.mul(at, b.integer(b.getI32Type(), operand.strides[operand.along]));
    std::map<SmallVector<int64_t, 2>, Read> known;
    SmallVector<Read> result;
    for (const DotRow &row : all) {
      Read &read = known[row.key];
      if (!read.number) {
        Value place = row.place.base ? b.add(row.place.base, step) : step;
        read.number = loadShared(type, sharedAt(operand.base, place, type, row.place.constant));
        if (operand.hasMask)
          read.inside = loadShared(
              b.getI1Type(), sharedAt(operand.maskBase, place, b.getI8Type(), row.place.constant));
      }
      result.push_back(read);
    }
    return result;
  };
  return b.loop(b.i64(0), count, b.i64(1), acc, [&](Value k, ValueRange sums) {
    Value at = b.fold<arith::TruncIOp>(b.getI32Type(), k);
    SmallVector<Read> left = readRows(operands[0], rows[0], at),
                      right = readRows(operands[1], rows[1], at);
    Values next;
    for (auto [sum, x, y] : llvm::zip(sums, left, right)) {
      // Zero times Inf is no contribution either.
      Value both = b.both(x.inside, y.inside);
      Value lhs = b.select(both, x.number, zero), rhs = b.select(both, y.number, zero);
      next.push_back(isa<FloatType>(type) ? Value(math::FmaOp::create(b, lhs, rhs, sum))
                                          : b.add(b.mul(lhs, rhs), sum));
    }
    return next;
  });
}

bool KernelLowering::isMadeByDots(ConvertOp op) const {
  // Sums that are added to are no factors.
  bool isFactor = llvm::all_of(op->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<DotOp>(user) && user->getBlock() == op->getBlock() && use.getOperandNumber() < 2;
  });
  return isFactor && !layoutOf(op.getInput().getType()).hasSameThreads(layoutOf(op.getType()));
}

Value KernelLowering::sourceOf(DotOp op, unsigned number) const {
  Value value = op->getOperand(number);
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && isMadeByDots(convert) ? convert.getInput() : value;
}

DotOperand KernelLowering::operandOf(DotOp op, unsigned number, bool hasRegisters) {
  DotOperand operand;
  Value value = op->getOperand(number), source = sourceOf(op, number);
  if (hasRegisters) {
    operand.tile = tile(source);
    operand.mask = domainMask(operand.tile.axes, operand.tile.layout);
  } else {
    operand.tile = {
        SmallVector<StringAttr>(axesOf(source.getType())), layoutOf(source.getType()), {}};
  }
  operand.element = getElementTypeOrSelf(value.getType());
  operand.isZeroOutside = isZeroOutside(value);
  operand.hasMask = !domains.restrictsOn(operand.tile.axes).empty();
  operand.along = operand.tile.axisIndex(op.getAxisAttr());
  return operand;
}

void KernelLowering::emitDot(DotOp op) {
  SmallVector<DotOperand, 2> operands;
  for (unsigned n : {0, 1}) {
    auto convert = op->getOperand(n).getDefiningOp<ConvertOp>();
    auto copied = stagedOperands.find(convert ? convert.getInput().getDefiningOp() : nullptr);
    bool isCopied = copied != stagedOperands.end();
    auto resident = residents.find({op, n});
    bool isResident = resident != residents.end();
    operands.push_back(operandOf(op, n, /*hasRegisters=*/!isCopied && !isResident));
    operands.back().isResident = isResident;
    if (isResident)
      operands.back().base = resident->second;
    if (isCopied)
      operands.back().copied = copied->second;
  }
  if (!emitWarpDot(op, operands))
    bind(op.getResult(), multiplyByThreads(op, operands));
}

/// How much of the contracted axis both operands' layouts cover.
static int64_t coveredBy(ArrayRef<DotOperand> operands) {
  int64_t covered = 1;
  for (const DotOperand &operand : operands)
    covered = std::max(covered, operand.tile.layout.extent(operand.along));
  return covered;
}

/// Attention of f32 with rotary queries, 64 elements a head, 32 registers a thread: 458 µs with
/// queries that registers hold, 404 with these; with four elements, two registers, 2284 and 2380
/// (H200).
SmallVector<std::pair<DotOp, unsigned>> KernelLowering::placeResidents(ForOp loop) {
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
  if (placed.empty() || sharedFloor + bytes + most > std::min(room, mostSharedOfOp))
    return added;
  Value base = shared(bytes);
  barrier(); // others may still read what was there
  for (Placed &each : placed) {
    each.operand.base = sharedAt(base, Value(), b.getI8Type(), each.operand.start);
    storeOperand(each.operand, each.type, /*chunkStart=*/Value(), each.covered);
    residents[{each.dot, each.number}] = each.operand.base;
    added.emplace_back(each.dot, each.number);
  }
  barrier();
  sharedFloor = static_cast<int64_t>(llvm::alignTo(sharedFloor + bytes, 16));
  return added;
}

Values KernelLowering::multiplyByThreads(DotOp op, MutableArrayRef<DotOperand> operands) {
  Type type = getElementTypeOrSelf(op.getAcc().getType());
  Axes axes = axesOf(op.getType());
  Layout layout = axes.empty() ? Layout(0) : layoutOf(op.getType());
  int64_t covered = coveredBy(operands);
  // As much of the contracted axis at a time as there is room for.
  int64_t chunk = covered;
  auto layOut = [&] {
    int64_t end = 0;
    for (DotOperand &operand : operands) {
      int64_t next = operand.layOut(end, chunk, type, axes, layout);
      end = operand.isResident ? end : next;
    }
    return end;
  };
  for (DotOperand &operand : operands)
    if (operand.copied.slot)
      operand.tile.registers = readStaged(operand.copied);
  int64_t bytes = layOut();
  while (bytes > mostSharedOfOp && chunk > 1) {
    chunk = static_cast<int64_t>(llvm::PowerOf2Ceil(chunk)) / 2;
    bytes = layOut();
  }
  assert((chunk == covered || !llvm::any_of(operands, [](auto &one) { return one.isResident; })) &&
         "there was room for all of it");
  Value base = shared(bytes);
  SmallVector<SmallVector<DotRow>, 2> rows;
  for (DotOperand &operand : operands) {
    if (!operand.isResident)
      operand.base = sharedAt(base, Value(), b.getI8Type(), operand.start);
    operand.maskBase = sharedAt(base, Value(), b.getI8Type(), operand.maskStart);
    rows.push_back(rowsOf(operand, axes, layout));
  }
  Range range = ranges.lookup(op.getAxisAttr());
  // Of whole axes and blocks alike: what is in the tile.
  Value length = b.sub(range.end, range.origin);
  auto contract = [&](Value start, Value count, ValueRange acc) {
    barrier();
    for (const DotOperand &operand : operands)
      if (!operand.isResident)
        storeOperand(operand, type, start, chunk);
    barrier();
    return multiplyRows(operands, rows, type, count, acc);
  };
  Values acc = flatten(op.getAcc());
  if (chunk == covered)
    acc = contract(Value(), length, acc);
  else
    acc = b.loop(b.i64(0), length, b.i64(chunk), acc, [&](Value start, ValueRange sums) {
      Value count = b.minS(b.sub(length, start), b.i64(chunk));
      return contract(b.fold<arith::TruncIOp>(b.getI32Type(), start), count, sums);
    });
  return acc;
}
