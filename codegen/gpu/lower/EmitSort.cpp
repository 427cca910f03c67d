//===- EmitSort.cpp - sorts: bitonic networks in shared memory ------------===//
//
// An element becomes a number of 32 or 64 bits that compares without a sign as the
// elements do, and its place in the line: no two are equal, so any network is
// stable. Up to 32 bits both are one number of 64. What is outside the domain goes
// to the end. K. E. Batcher, "Sorting networks and their applications" (1968).
//
//===----------------------------------------------------------------------===//

#include "codegen/SortKey.h"
#include "codegen/gpu/lower/AlongEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// One sort while it is emitted.
struct AlongEmitter::Sorting {
  SortOp op;
  Type type;           // of the elements, in registers
  bool isWide = false; // whether keys take 64 bits, and places stand beside them
  /// Lines, of so many places, a power of two; so many are sorted at once.
  SmallVector<StringAttr> axes; // the others
  SmallVector<int64_t> strides;
  int64_t lines = 1, length = 1, together = 1;
  // In shared memory, [line][place] but for one more at the end, which nobody reads.
  Value keys, places, values, ranks;

  int64_t slots() const { return together * length; }
};

//===-- Lines -------------------------------------------------------------===//

Value AlongEmitter::lineOf(const Sorting &sorting, Axes axes, const Layout &layout, int64_t reg) {
  Type i32 = b.getI32Type();
  Value line = b.integer(i32, 0);
  for (auto [axis, stride] : llvm::zip(sorting.axes, sorting.strides)) {
    unsigned position = llvm::find(axes, axis) - axes.begin();
    line = b.add(line, b.mul(ctx.places.localPlace(layout, position, reg), b.integer(i32, stride)));
  }
  return line;
}

//===-- The network -------------------------------------------------------===//

void AlongEmitter::mergeStages(const Sorting &sorting) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  int64_t threads = 32 * int64_t(ctx.warps), pairs = sorting.slots() / 2;
  auto narrow = [&](Value number) { return b.fold<arith::TruncIOp>(i32, number); };
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  auto exchange = [&](Value pair, Value step, Value run) {
    // Bit `step` of the lower index is 0: the pair's number with a 0 put in there.
    Value low = b.fold<arith::AndIOp>(pair, b.sub(step, c(1)));
    Value first = b.add(b.fold<arith::ShLIOp>(b.sub(pair, low), c(1)), low);
    Value second = b.add(first, step);
    // Runs go up and down by turns; the last one is the line, and goes up.
    Value place = b.fold<arith::AndIOp>(first, c(sorting.length - 1));
    Value isUp = b.compare(CmpIPredicate::eq, b.fold<arith::AndIOp>(place, run), c(0));
    Value at[] = {ctx.shared.at(sorting.keys, first, i64),
                  ctx.shared.at(sorting.keys, second, i64)};
    Value x = ctx.shared.load(i64, at[0]), y = ctx.shared.load(i64, at[1]);
    Value isGreater = b.compare(CmpIPredicate::ugt, x, y), placeX, placeY;
    Value atPlace[2];
    if (sorting.isWide) {
      atPlace[0] = ctx.shared.at(sorting.places, first, i32);
      atPlace[1] = ctx.shared.at(sorting.places, second, i32);
      placeX = ctx.shared.load(i32, atPlace[0]), placeY = ctx.shared.load(i32, atPlace[1]);
      // What is outside has the greatest places, and goes behind all that is inside.
      Value zero = c(0), xOut = b.compare(CmpIPredicate::slt, placeX, zero);
      Value yOut = b.compare(CmpIPredicate::slt, placeY, zero);
      Value isEqual = b.compare(CmpIPredicate::eq, x, y);
      Value isBehind = b.compare(CmpIPredicate::ugt, placeX, placeY);
      isGreater = b.select(isEqual, isBehind, isGreater);
      isGreater = b.select(b.fold<arith::XOrIOp>(xOut, yOut), xOut, isGreater);
    }
    Value swaps = b.compare(CmpIPredicate::eq, isGreater, isUp);
    ctx.shared.store(b.select(swaps, y, x), at[0]);
    ctx.shared.store(b.select(swaps, x, y), at[1]);
    if (sorting.isWide) {
      ctx.shared.store(b.select(swaps, placeY, placeX), atPlace[0]);
      ctx.shared.store(b.select(swaps, placeX, placeY), atPlace[1]);
    }
  };
  int64_t rounds = llvm::Log2_64(sorting.length);
  b.loop(b.i64(1), b.i64(rounds + 1), b.i64(1), {}, [&](Value round, ValueRange) {
    Value run = b.fold<arith::ShLIOp>(c(1), narrow(round));
    b.loop(b.i64(0), round, b.i64(1), {}, [&](Value down, ValueRange) {
      Value step = b.fold<arith::ShRUIOp>(run, b.add(narrow(down), c(1)));
      ctx.barriers.meet();
      b.loop(b.fold<arith::ExtUIOp>(i64, ctx.thread), b.i64(pairs), b.i64(threads), {},
             [&](Value pair, ValueRange) {
               exchange(narrow(pair), step, run);
               return Values();
             });
      return Values();
    });
    return Values();
  });
  ctx.barriers.meet();
}

//===-- In and out --------------------------------------------------------===//

void AlongEmitter::sortLines(const Sorting &sorting, const Tile &input, ArrayRef<Value> mask,
                             const Values &ranks, Value firstLine) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type(), stored = memoryType(sorting.type);
  SortOp op = sorting.op;
  unsigned axis = input.axisIndex(op.getAxisAttr());
  int64_t threads = 32 * int64_t(ctx.warps);
  ctx.barriers.meet();
  b.loop(b.fold<arith::ExtUIOp>(i64, ctx.thread), b.i64(sorting.slots()), b.i64(threads), {},
         [&](Value slot, ValueRange) {
           Value at = b.fold<arith::TruncIOp>(i32, slot);
           ctx.shared.store(b.i64(-1), ctx.shared.at(sorting.keys, at, i64));
           if (sorting.isWide)
             ctx.shared.store(b.integer(i32, -1), ctx.shared.at(sorting.places, at, i32));
           return Values();
         });
  ctx.barriers.meet();
  for (auto [r, value] : llvm::enumerate(input.registers)) {
    Value line = b.sub(lineOf(sorting, input.axes, input.layout, r), firstLine);
    Value place = ctx.places.localPlace(input.layout, axis, r);
    Value isHere = b.compare(CmpIPredicate::ult, line, b.integer(i32, sorting.together));
    Value own = b.add(b.mul(line, b.integer(i32, sorting.length)), place);
    Value slot = b.select(isHere, own, b.integer(i32, sorting.slots()));
    Value key = emitSortKey(b, ctx.target, op, value), nothing = b.i64(-1);
    if (sorting.isWide) {
      ctx.shared.store(b.select(mask[r], place, b.integer(i32, -1)),
                       ctx.shared.at(sorting.places, slot, i32));
    } else {
      Value high = b.fold<arith::ShLIOp>(b.fold<arith::ExtUIOp>(i64, key), b.i64(32));
      key = b.fold<arith::OrIOp>(high, b.fold<arith::ExtUIOp>(i64, place));
    }
    ctx.shared.store(b.select(mask[r], key, nothing), ctx.shared.at(sorting.keys, slot, i64));
    ctx.shared.store(value, ctx.shared.at(sorting.values, slot, stored));
    if (!ranks.empty())
      ctx.shared.store(ranks[r], ctx.shared.at(sorting.ranks, slot, i32));
  }
  mergeStages(sorting);
}

std::pair<Values, Values> AlongEmitter::readSorted(const Sorting &sorting, Value result,
                                                   ValueRange values, ValueRange coordinates,
                                                   Value firstLine) {
  SortOp op = sorting.op;
  Type element = getElementTypeOrSelf(op.getInput().getType()), i32 = b.getI32Type();
  CombineKind missing = op.getDescending()
                            ? (op.getIsUnsigned() ? CombineKind::umax : CombineKind::max)
                            : (op.getIsUnsigned() ? CombineKind::umin : CombineKind::min);
  Value none = emitConstant(b, identityOf(missing, element));
  Axes axes = axesOf(result.getType());
  Layout layout = layoutOf(result.getType());
  unsigned position = llvm::find(axes, op.getRankAttr()) - axes.begin();
  Value origin = ctx.ranges.lookup(op.getAxisAttr()).origin, zero = b.integer(i32, 0);
  // As many elements as places: what is outside the domain nobody looks at.
  bool isFull = op.getRankAttr() == op.getAxisAttr() && !sorting.ranks;
  std::pair<Values, Values> read;
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Value line = b.sub(lineOf(sorting, axes, layout, r), firstLine);
    Value isHere = b.compare(CmpIPredicate::ult, line, b.integer(i32, sorting.together));
    Value start = b.select(isHere, b.mul(line, b.integer(i32, sorting.length)), zero);
    Value number = ctx.places.localPlace(layout, position, r);
    Value inLine = b.compare(CmpIPredicate::ult, number, b.integer(i32, sorting.length));
    number = b.select(inLine, number, zero);
    if (sorting.ranks)
      number = ctx.shared.load(i32, ctx.shared.at(sorting.ranks, b.add(start, number), i32));
    Value slot = b.add(start, number), place;
    if (sorting.isWide)
      place = ctx.shared.load(i32, ctx.shared.at(sorting.places, slot, i32));
    else
      place = b.fold<arith::TruncIOp>(
          i32, ctx.shared.load(b.getI64Type(), ctx.shared.at(sorting.keys, slot, b.getI64Type())));
    Value isThere = isFull ? Value() : b.both(inLine, b.compare(CmpIPredicate::sge, place, zero));
    Value from = b.add(start, isFull ? b.maxS(place, zero) : b.select(isThere, place, zero));
    Value value = ctx.shared.load(sorting.type,
                                  ctx.shared.at(sorting.values, from, memoryType(sorting.type)));
    Value coordinate = b.add(origin, b.fold<arith::ExtUIOp>(b.getI64Type(), place));
    read.first.push_back(b.select(isHere, b.select(isThere, value, none), values[r]));
    read.second.push_back(
        b.select(isHere, b.select(isThere, coordinate, b.i64(-1)), coordinates[r]));
  }
  return read;
}

void AlongEmitter::emitSort(SortOp op) {
  Tile input = ctx.tile(op.getInput());
  unsigned axis = input.axisIndex(op.getAxisAttr());
  Sorting sorting;
  sorting.op = op;
  sorting.type = input.registers[0].getType();
  unsigned bits = memoryType(sorting.type).getIntOrFloatBitWidth();
  sorting.isWide = bits == 64;
  sorting.length = llvm::PowerOf2Ceil(std::max<int64_t>(2, input.layout.extent(axis)));
  bool isOwnAxis = op.getRankAttr() == op.getAxisAttr();
  // With holes, the n-th coordinate inside isn't n.
  bool hasHoles = isOwnAxis && llvm::any_of(ctx.domains.restrictsOn(input.axes), [&](RestrictOp r) {
                    return llvm::any_of(
                        r.getDims(), [&](Value span) { return axisOf(span) == op.getAxisAttr(); });
                  });
  // The results' lines may be covered farther than the input's.
  for (auto [n, name] : llvm::enumerate(input.axes)) {
    if (n == axis)
      continue;
    int64_t extent = input.layout.extent(n);
    for (Value result : op->getResults()) {
      Axes axes = axesOf(result.getType());
      extent = std::max(extent,
                        layoutOf(result.getType()).extent(llvm::find(axes, name) - axes.begin()));
    }
    sorting.axes.push_back(name);
    sorting.strides.push_back(sorting.lines);
    sorting.lines *= extent;
  }
  int64_t slotBytes = 8 + (sorting.isWide ? 4 : 0) + bits / 8 + (hasHoles ? 4 : 0);
  constexpr int64_t dump = 16; // one slot more, and alignment
  sorting.together =
      std::min(sorting.lines, (mostSharedOfOp - 4 * dump) / slotBytes / sorting.length);
  // A single line may take what the largest devices have; of others the compiler knows.
  if (sorting.together < 1 &&
      sorting.length * slotBytes <= runtime::GpuTarget::maxSharedBytes() - 4 * dump)
    sorting.together = 1;
  if (sorting.together < 1) {
    // Of the tile: the layout covers more.
    int64_t elements = cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(axis);
    uint64_t slots = (runtime::GpuTarget::maxSharedBytes() - 4 * dump) / slotBytes;
    return ctx.fail(op, "the GPU backend does not have `" + op.getWord() + "` of " +
                            Twine(elements) + " elements of " + Twine(bits) +
                            " bits yet, only of " + Twine(llvm::bit_floor(slots)));
  }
  int64_t offset = 0, starts[4];
  unsigned sizes[] = {8, bits / 8, 4, 4};
  bool uses[] = {true, true, sorting.isWide, hasHoles};
  for (int n = 0; n < 4; ++n) {
    starts[n] = offset;
    offset += uses[n] ? llvm::alignTo((sorting.slots() + 1) * sizes[n], 16) : 0;
  }
  Value base = ctx.shared.take(offset);
  Value *arrays[] = {&sorting.keys, &sorting.values, &sorting.places, &sorting.ranks};
  for (int n = 0; n < 4; ++n)
    if (uses[n])
      *arrays[n] = ctx.shared.at(base, Value(), b.getI8Type(), starts[n]);

  Values mask = ctx.places.domainMask(input.axes, input.layout), ranks;
  if (hasHoles)
    ranks = ranksOf(input, axis, mask);
  // Values and coordinates may have layouts of their own.
  auto countOf = [&](Value result) { return layoutOf(result.getType()).numRegisters(); };
  int64_t numValues = countOf(op.getValues()), numCoordinates = countOf(op.getCoordinates());
  Value noValue =
      isa<FloatType>(sorting.type) ? b.number(sorting.type, 0) : b.integer(sorting.type, 0);
  Values inits(numValues, noValue);
  inits.append(numCoordinates, b.i64(-1));
  auto sortGroup = [&](Value line, ValueRange sorted) {
    sortLines(sorting, input, mask, ranks, line);
    Values values(sorted.take_front(numValues)), places(sorted.drop_front(numValues));
    Values all;
    if (layoutOf(op.getValues().getType()) == layoutOf(op.getCoordinates().getType())) {
      auto both = readSorted(sorting, op.getValues(), values, places, line);
      all = both.first;
      llvm::append_range(all, both.second);
      return all;
    }
    all = readSorted(sorting, op.getValues(), values, Values(numValues, b.i64(-1)), line).first;
    Values unused(numCoordinates, noValue);
    llvm::append_range(all, readSorted(sorting, op.getCoordinates(), unused, places, line).second);
    return all;
  };
  Values sorted;
  if (sorting.together == sorting.lines)
    sorted = sortGroup(b.integer(b.getI32Type(), 0), inits);
  else
    sorted = b.loop(b.i64(0), b.i64(sorting.lines), b.i64(sorting.together), inits,
                    [&](Value line, ValueRange carried) {
                      return sortGroup(b.fold<arith::TruncIOp>(b.getI32Type(), line), carried);
                    });
  ctx.bind(op->getResults(), sorted);
}

CodeBuilder::Values AlongEmitter::ranksOf(const Tile &input, unsigned axis, ArrayRef<Value> mask) {
  Type i32 = b.getI32Type();
  Layout layout = layoutForScan(input.layout, axis);
  Values inside = ctx.places.domainMask(input.axes, layout), ones;
  SmallVector<unsigned> kept;
  for (unsigned n = 0; n < input.axes.size(); ++n)
    if (n != axis)
      kept.push_back(n);
  for (Value holds : inside)
    ones.push_back(b.select(holds, b.integer(i32, 1), b.integer(i32, 0)));
  Values inits(layout.project(kept).numRegisters(), b.integer(i32, 0));
  Scanned counted =
      scanStates(layout, axis, /*reverse=*/false, ones, Values(ones.size()), inits,
                 [&](ValueRange x, ValueRange y) { return Values{b.add(x[0], y[0])}; });
  Values ranks =
      ctx.exchange.convert({input.axes, layout, counted.states[0]}, input.layout).registers;
  // How many there are before; a place that isn't inside has none.
  for (auto [rank, holds] : llvm::zip(ranks, mask))
    rank = b.select(holds, b.sub(rank, b.integer(i32, 1)), b.integer(i32, 0));
  return ranks;
}
