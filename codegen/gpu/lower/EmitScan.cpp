//===- EmitScan.cpp - scans: all running combinations along an axis -------===//
//
// A thread combines the neighbours that it has, then the lanes of a warp what each
// of them made of that, then the warps. Of each group every thread learns what
// comes before its own elements and what all make together. Repeats of the layout
// follow each other, from the state that the scan begins with.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/AlongEmitter.h"
#include "codegen/gpu/lower/Numbers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

AlongEmitter::AlongEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<ScanOp>([this](ScanOp op) { emitScan(op); });
  ctx.onOp<SortOp>([this](SortOp op) { emitSort(op); });
  ctx.onOp<TakeOp>([this](TakeOp op) { emitTake(op); });
}

//===-- States that may be missing ----------------------------------------===//

namespace tile::codegen::gpu {
/// The combination of some elements; of none, where `isThere` doesn't hold. Null: always there.
struct ScanState {
  CodeBuilder::Values numbers;
  Value isThere;
};

/// What a thread has of a line, as neighbours along the axis: registers in the order of the scan.
struct ScanRun {
  SmallVector<int64_t> registers;
  SmallVector<ScanState, 0> states; // each with those of the run before it
  ScanState before, total;          // of the threads that are joined so far
};

/// By register of the layout without the axis, then by repeat along it.
using ScanRuns = SmallVector<ScanRun, 0>;
struct ScanLines : SmallVector<ScanRuns, 0> {};

/// One scan while it is emitted.
class Scan {
public:
  Scan(CodeBuilder &b, Combine combine, bool reverse) : b(b), combine(combine), reverse(reverse) {}

  /// x, then y.
  ScanState join(const ScanState &x, const ScanState &y) const {
    ScanState result;
    for (auto [all, left, right] : llvm::zip(combine(x.numbers, y.numbers), x.numbers, y.numbers))
      result.numbers.push_back(b.select(x.isThere, b.select(y.isThere, all, left), right));
    result.isThere = b.either(x.isThere, y.isThere);
    return result;
  }

  ScanState select(Value condition, const ScanState &x, const ScanState &y) const {
    ScanState result;
    for (auto [left, right] : llvm::zip(x.numbers, y.numbers))
      result.numbers.push_back(b.select(condition, left, right));
    auto flag = [&](const ScanState &state) { return state.isThere ? state.isThere : b.i1(true); };
    if (x.isThere || y.isThere)
      result.isThere = b.select(condition, flag(x), flag(y));
    return result;
  }

  ScanState none(const ScanState &like) const { return {like.numbers, b.i1(false)}; }

  /// Whether a bit of a number is set; in reverse, whether it isn't.
  Value isLater(Value number, unsigned bit) const {
    Type i32 = b.getI32Type();
    Value isolated = b.fold<arith::AndIOp>(number, b.integer(i32, 1 << bit));
    return b.compare(reverse ? CmpIPredicate::eq : CmpIPredicate::ne, isolated, b.integer(i32, 0));
  }

  CodeBuilder &b;
  Combine combine;
  bool reverse;
};
} // namespace tile::codegen::gpu

/// The bits of a part that move along an axis.
static SmallVector<unsigned> bitsAlong(const Layout &layout, Part part, unsigned axis) {
  SmallVector<unsigned> bits;
  for (auto [bit, step] : llvm::enumerate(layout.bases(part)))
    if (step[axis])
      bits.push_back(bit);
  return bits;
}

/// Whether along the axis registers follow each other, then lanes, then warps, then repeats.
static bool isInOrder(const Layout &layout, unsigned axis) {
  int64_t last = 0;
  for (Part part : {Part::Register, Part::Lane, Part::Warp})
    for (const Layout::Coords &step : layout.bases(part)) {
      if (!step[axis])
        continue;
      bool isAlone = llvm::count_if(step, [](int64_t x) { return x != 0; }) == 1;
      if (!isAlone || !llvm::isPowerOf2_64(step[axis]) || step[axis] <= last)
        return false;
      last = step[axis];
    }
  return true;
}

//===-- Groups of threads -------------------------------------------------===//

void AlongEmitter::joinLanes(const Scan &scan, ScanRun &run, ArrayRef<unsigned> bits) {
  for (unsigned bit : bits) {
    ScanState other;
    for (Value number : run.total.numbers)
      other.numbers.push_back(ctx.exchange.shuffleXor(number, 1u << bit));
    if (run.total.isThere)
      other.isThere = ctx.exchange.shuffleXor(run.total.isThere, 1u << bit);
    Value later = scan.isLater(ctx.lane, bit);
    run.before = scan.select(later, scan.join(other, run.before), run.before);
    run.total =
        scan.join(scan.select(later, other, run.total), scan.select(later, run.total, other));
  }
}

void AlongEmitter::joinWarps(const Scan &scan, const Layout &left, ScanLines &lines,
                             ArrayRef<unsigned> bits) {
  Type i32 = b.getI32Type();
  SmallVector<int64_t> strides(left.rank());
  int64_t places = 1, repeats = lines[0].size(), slots = int64_t(1) << bits.size();
  for (unsigned axis = left.rank(); axis-- > 0;) {
    strides[axis] = places;
    places *= left.extent(axis);
  }
  Value slot = b.integer(i32, 0);
  for (auto [n, bit] : llvm::enumerate(bits)) {
    Value moved = b.fold<arith::ShRUIOp>(ctx.warp, b.integer(i32, bit));
    Value isSet = b.fold<arith::AndIOp>(moved, b.integer(i32, 1));
    slot = b.add(slot, b.mul(isSet, b.integer(i32, int64_t(1) << n)));
  }
  // An array for each number, and one for whether they are there: [slot][repeat][place].
  auto partsOf = [](const ScanState &state) {
    Values parts = state.numbers;
    if (state.isThere)
      parts.push_back(state.isThere);
    return parts;
  };
  SmallVector<Type> types;
  SmallVector<int64_t> starts;
  int64_t bytes = 0;
  // Whether states may be missing is known alike of all runs: masks have all registers or none.
  bool hasFlags = llvm::any_of(lines, [](ArrayRef<ScanRun> runs) {
    return llvm::any_of(runs, [](const ScanRun &run) { return bool(run.total.isThere); });
  });
  for (ScanRuns &runs : lines)
    for (ScanRun &run : runs)
      if (hasFlags && !run.total.isThere)
        run.total.isThere = b.i1(true);
  for (Value part : partsOf(lines[0][0].total)) {
    types.push_back(part.getType());
    starts.push_back(bytes);
    int64_t size = std::max(1u, part.getType().getIntOrFloatBitWidth() / 8);
    bytes += llvm::alignTo(slots * repeats * places * size, 16);
  }
  Value base = ctx.shared.take(bytes);
  auto addressOf = [&](size_t part, Index place, int64_t group) {
    Value array = ctx.shared.at(base, Value(), b.getI8Type(), starts[part]);
    return ctx.shared.at(array, place.base, memoryType(types[part]),
                         place.constant + group * places);
  };
  Value ownGroup = b.mul(slot, b.integer(i32, repeats * places));
  ctx.barriers.meet();
  for (auto [l, runs] : llvm::enumerate(lines)) {
    Index place = ctx.places.linearPlace(left, l, strides);
    Index own{place.base ? b.add(place.base, ownGroup) : ownGroup, place.constant};
    for (auto [q, run] : llvm::enumerate(runs))
      for (auto [n, part] : llvm::enumerate(partsOf(run.total)))
        ctx.shared.store(part, addressOf(n, own, q));
  }
  ctx.barriers.meet();
  for (auto [l, runs] : llvm::enumerate(lines)) {
    Index place = ctx.places.linearPlace(left, l, strides);
    for (auto [q, run] : llvm::enumerate(runs)) {
      ScanState all, before = scan.none(run.total);
      for (int64_t n = 0; n < slots; ++n) {
        int64_t from = scan.reverse ? slots - 1 - n : n;
        ScanState theirs;
        for (size_t part = 0; part < types.size(); ++part)
          theirs.numbers.push_back(
              ctx.shared.load(types[part], addressOf(part, place, from * repeats + q)));
        if (hasFlags)
          theirs.isThere = theirs.numbers.pop_back_val();
        Value isOwn = b.compare(CmpIPredicate::eq, slot, b.integer(i32, from));
        if (n > 0)
          before = scan.select(isOwn, all, before);
        all = n > 0 ? scan.join(all, theirs) : theirs;
      }
      run.before = scan.join(before, run.before);
      run.total = all;
    }
  }
}

//===-- Scans of states ---------------------------------------------------===//

/// What a thread has of each line.
static ScanLines runsOf(const Layout &layout, const Layout &left, unsigned axis,
                        ArrayRef<unsigned> kept) {
  ScanLines lines;
  lines.resize(left.numRegisters());
  for (ScanRuns &runs : lines)
    runs.resize(layout.repeats()[axis]);
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Layout::Coords place = layout.ofRegister(r), at;
    for (unsigned other : kept)
      at.push_back(place[other]);
    lines[*left.registerAt(at)][place[axis] / layout.atomExtent(axis)].registers.push_back(r);
  }
  return lines;
}

AlongEmitter::Scanned AlongEmitter::scanStates(const Layout &layout, unsigned axis, bool reverse,
                                               ArrayRef<Values> states, ArrayRef<Value> mask,
                                               ArrayRef<Values> inits, Combine combine) {
  assert(isInOrder(layout, axis) && "the caller has seen to it");
  Scan scan(b, combine, reverse);
  SmallVector<unsigned> kept;
  for (unsigned other = 0; other < layout.rank(); ++other)
    if (other != axis)
      kept.push_back(other);
  Layout left = layout.project(kept);
  ScanLines lines = runsOf(layout, left, axis, kept);
  SmallVector<unsigned> lanes = bitsAlong(layout, Part::Lane, axis),
                        warpBits = bitsAlong(layout, Part::Warp, axis);
  for (ScanRuns &runs : lines)
    for (ScanRun &run : runs) {
      llvm::sort(run.registers, [&](int64_t x, int64_t y) {
        int64_t left = layout.ofRegister(x)[axis], right = layout.ofRegister(y)[axis];
        return reverse ? left > right : left < right;
      });
      for (int64_t r : run.registers) {
        ScanState own{llvm::map_to_vector(states, [&](const Values &all) { return all[r]; }),
                      mask[r]};
        run.states.push_back(run.states.empty() ? own : scan.join(run.states.back(), own));
      }
      run.total = run.states.back();
      run.before = scan.none(run.total);
      joinLanes(scan, run, lanes);
    }
  if (!warpBits.empty())
    joinWarps(scan, left, lines, warpBits);
  Scanned result;
  result.states.assign(states.size(), Values(layout.numRegisters()));
  result.last.resize(states.size());
  for (auto [l, runs] : llvm::enumerate(lines)) {
    ScanState carried{llvm::map_to_vector(inits, [&](const Values &all) { return all[l]; }), {}};
    if (reverse)
      std::reverse(runs.begin(), runs.end());
    for (ScanRun &run : runs) {
      ScanState before = scan.join(carried, run.before);
      for (auto [r, state] : llvm::zip(run.registers, run.states))
        for (auto [n, number] : llvm::enumerate(scan.join(before, state).numbers))
          result.states[n][r] = number;
      carried = scan.join(carried, run.total);
    }
    for (auto [n, number] : llvm::enumerate(carried.numbers))
      result.last[n].push_back(number);
  }
  return result;
}

Layout AlongEmitter::layoutForScan(const Layout &layout, unsigned axis) const {
  if (isInOrder(layout, axis))
    return layout;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> order(1, axis);
  for (unsigned other = 0; other < layout.rank(); ++other) {
    extents.push_back(layout.extent(other));
    if (other != axis)
      order.push_back(other);
  }
  return Layout::blocked({extents, order, {}, 1, ctx.warps});
}

//===-- The op ------------------------------------------------------------===//

void AlongEmitter::emitScan(ScanOp op) {
  Tile first = ctx.tile(op.getInputs()[0]);
  unsigned axis = first.axisIndex(op.getAxisAttr());
  SmallVector<unsigned> kept;
  SmallVector<StringAttr> others;
  for (auto [n, name] : llvm::enumerate(first.axes))
    if (n != axis) {
      kept.push_back(n);
      others.push_back(name);
    }
  Layout layout = layoutForScan(first.layout, axis), left = layout.project(kept);
  SmallVector<Values> states, inits;
  for (auto [input, init] : llvm::zip(op.getInputs(), op.getInits())) {
    Tile given = ctx.tile(input);
    states.push_back(layout == given.layout ? given.registers
                                            : ctx.exchange.convert(given, layout).registers);
    if (!isTile(init))
      inits.push_back({ctx.scalar(init)});
    else
      inits.push_back(ctx.exchange.convert(ctx.tile(init), left).registers);
  }
  Block &region = op.getCombine().front();
  auto combine = [&](ValueRange x, ValueRange y) {
    llvm::DenseMap<Value, Value> emitted;
    for (auto [argument, value] : llvm::zip(region.getArguments().take_front(x.size()), x))
      emitted[argument] = value;
    for (auto [argument, value] : llvm::zip(region.getArguments().drop_front(x.size()), y))
      emitted[argument] = value;
    auto valueOf = [&](Value value) {
      Value known = emitted.lookup(value);
      return known ? known : ctx.scalar(value);
    };
    for (Operation &inner : region.without_terminator()) {
      SmallVector<Value> operands = llvm::map_to_vector(inner.getOperands(), valueOf);
      emitted[inner.getResult(0)] = emitNumber(b, ctx.target, &inner, operands);
    }
    return llvm::map_to_vector(op.getCombined(), valueOf);
  };
  Scanned scanned = scanStates(layout, axis, op.getReverse(), states,
                               ctx.places.domainMask(first.axes, layout), inits, combine);
  for (auto [result, registers] : llvm::zip(op.getScanned(), scanned.states)) {
    Tile made{first.axes, layout, registers};
    if (!result.use_empty() && layoutOf(result.getType()) != layout)
      made = ctx.exchange.convert(made, layoutOf(result.getType()));
    ctx.tiles[result] = made;
  }
  for (auto [result, registers] : llvm::zip(op.getLast(), scanned.last)) {
    if (isTile(result))
      ctx.tiles[result] =
          ctx.exchange.convert({others, left, registers}, layoutOf(result.getType()));
    else
      ctx.scalars[result] = registers[0];
  }
}
