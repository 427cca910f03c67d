//===- Exchange.cpp - elements that move between threads ------------------===//
//
// Within a thread nothing has to be done, within a warp shuffles do it, and between
// warps the program's shared memory.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/lower/InlineAsm.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// A type's element in shared memory.
static Type storedType(CodeBuilder &b, Type type) {
  return type.isInteger(1) ? Type(b.getI8Type()) : type;
}

static int64_t bytesOf(Type type) { return std::max(1u, type.getIntOrFloatBitWidth() / 8); }

//===-- Conversions -------------------------------------------------------===//

CodeBuilder::Values Exchange::exchangeLanes(const WarpExchange &exchange, ValueRange registers) {
  Type i32 = b.getI32Type();
  auto constant = [&](unsigned value) { return b.integer(i32, value); };
  Value base = constant(0);
  for (auto [bit, step] : llvm::enumerate(exchange.steps))
    if (step) {
      Value isSet = b.fold<arith::AndIOp>(
          b.fold<arith::ShRUIOp>(ctx.lane, constant(static_cast<unsigned>(bit))), constant(1));
      base = b.fold<arith::XOrIOp>(base, b.mul(isSet, constant(step)));
    }
  Values made;
  for (auto [source, first] : llvm::zip(exchange.registers, exchange.lanes))
    made.push_back(shuffleFrom(registers[source], b.fold<arith::XOrIOp>(base, constant(first))));
  return made;
}

Tile Exchange::convert(const Tile &from, const Layout &layout) {
  Tile made{from.axes, layout, {}};
  if (from.layout.hasSameThreads(layout)) {
    for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r)
      made.registers.push_back(from.registers[*from.layout.registerAt(layout.ofRegister(r))]);
    return made;
  }
  if (std::optional<WarpExchange> exchange = exchangeInWarp(from.layout, layout)) {
    made.registers = exchangeLanes(*exchange, from.registers);
    return made;
  }
  // Rows are as the reader walks them; one more word a row keeps columns in different banks.
  Type type = from.registers[0].getType(), stored = storedType(b, type);
  SmallVector<int64_t> extents, strides(layout.rank());
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    extents.push_back(std::max(layout.extent(axis), from.layout.extent(axis)));
  int64_t padding = std::max<int64_t>(1, 4 / bytesOf(stored)), stride = 1;
  for (unsigned axis = layout.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride = stride * extents[axis] + (axis + 1 == layout.rank() ? padding : 0);
  }
  Value base = ctx.shared.take(stride * bytesOf(stored));
  ctx.barriers.meet();
  for (int64_t r = 0, count = from.layout.numRegisters(); r < count; ++r) {
    Index place = ctx.places.linearPlace(from.layout, r, strides);
    ctx.shared.store(from.registers[r], ctx.shared.at(base, place.base, stored, place.constant));
  }
  ctx.barriers.meet();
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Index place = ctx.places.linearPlace(layout, r, strides);
    made.registers.push_back(
        ctx.shared.load(type, ctx.shared.at(base, place.base, stored, place.constant)));
  }
  return made;
}

//===-- Reductions --------------------------------------------------------===//

Value Exchange::shuffleXor(Value value, unsigned mask) {
  return shuffle(value, "llvm.nvvm.shfl.sync.bfly.i32", b.integer(b.getI32Type(), mask));
}

Value Exchange::shuffleFrom(Value value, Value from) {
  return shuffle(value, "llvm.nvvm.shfl.sync.idx.i32", from);
}

Value Exchange::shuffle(Value value, StringRef intrinsic, Value operand) {
  Type type = value.getType(), i32 = b.getI32Type();
  auto move = [&](Value word) -> Value {
    Value operands[] = {b.integer(i32, -1), word, operand, b.integer(i32, 31)};
    return LLVM::CallIntrinsicOp::create(b, i32, b.getStringAttr(intrinsic), operands).getResult(0);
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64) {
    Type words = VectorType::get(2, i32);
    Value pair = LLVM::BitcastOp::create(b, words, value), moved = LLVM::PoisonOp::create(b, words);
    for (int n = 0; n < 2; ++n)
      moved = LLVM::InsertElementOp::create(
          b, moved, move(LLVM::ExtractElementOp::create(b, pair, b.i64(n))), b.i64(n));
    return LLVM::BitcastOp::create(b, type, moved);
  }
  if (bits == 32)
    return b.bitcast(move(b.bitcast(value, i32)), type);
  return b.fold<arith::TruncIOp>(type, move(b.fold<arith::ExtUIOp>(i32, value)));
}

SmallVector<CodeBuilder::Values> Exchange::foldRegisters(const Layout &layout, const Layout &left,
                                                         ArrayRef<Values> states,
                                                         ArrayRef<unsigned> kept, Combine combine) {
  SmallVector<SmallVector<Values>> terms(left.numRegisters());
  for (int64_t r = 0, all = layout.numRegisters(); r < all; ++r) {
    Layout::Coords place = layout.ofRegister(r), at;
    for (unsigned axis : kept)
      at.push_back(place[axis]);
    Values state;
    for (const Values &registers : states)
      state.push_back(registers[r]);
    terms[*left.registerAt(at)].push_back(std::move(state));
  }
  SmallVector<Values> folded;
  for (SmallVector<Values> &list : terms) {
    while (list.size() > 1) {
      SmallVector<Values> half;
      for (size_t n = 0; n < list.size(); n += 2)
        half.push_back(n + 1 < list.size() ? combine(list[n], list[n + 1]) : list[n]);
      list = std::move(half);
    }
    folded.push_back(list[0]);
  }
  return folded;
}

void Exchange::foldWarps(const Layout &left, unsigned warpMask, MutableArrayRef<Values> folded,
                         Combine combine) {
  SmallVector<unsigned> bits;
  for (unsigned bit = 0; bit < laneBits; ++bit)
    if (warpMask >> bit & 1)
      bits.push_back(bit);
  Type i32 = b.getI32Type();
  SmallVector<int64_t> strides(left.rank());
  int64_t places = 1, bytes = 0;
  for (unsigned axis = left.rank(); axis-- > 0;) {
    strides[axis] = places;
    places *= left.extent(axis);
  }
  Value slot = b.integer(i32, 0);
  for (auto [n, bit] : llvm::enumerate(bits)) {
    Value isSet = b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(ctx.warp, b.integer(i32, bit)),
                                        b.integer(i32, 1));
    slot = b.add(slot, b.mul(isSet, b.integer(i32, places << n)));
  }
  int64_t slots = places << bits.size();
  size_t numbers = folded[0].size();
  SmallVector<int64_t> starts;
  for (size_t n = 0; n < numbers; ++n) {
    starts.push_back(bytes);
    bytes += llvm::alignTo(slots * bytesOf(folded[0][n].getType()), 16);
  }
  Value base = ctx.shared.take(bytes);
  auto arrayOf = [&](size_t n) { return ctx.shared.at(base, Value(), b.getI8Type(), starts[n]); };
  ctx.barriers.meet();
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = ctx.places.linearPlace(left, r, strides);
    Value at = place.base ? b.add(place.base, slot) : slot;
    for (auto [n, number] : llvm::enumerate(state))
      ctx.shared.store(
          number, ctx.shared.at(arrayOf(n), at, storedType(b, number.getType()), place.constant));
  }
  ctx.barriers.meet();
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = ctx.places.linearPlace(left, r, strides);
    Values sum;
    for (int64_t other = 0; other < int64_t(1) << bits.size(); ++other) {
      Values theirs;
      for (auto [n, number] : llvm::enumerate(state)) {
        Type type = number.getType();
        theirs.push_back(
            ctx.shared.load(type, ctx.shared.at(arrayOf(n), place.base, storedType(b, type),
                                                place.constant + other * places)));
      }
      sum = other ? combine(sum, theirs) : theirs;
    }
    state = sum;
  }
}

void Exchange::foldThreads(const Layout &layout, ArrayRef<unsigned> kept,
                           MutableArrayRef<Values> folded, Combine combine) {
  Layout left = layout.project(kept);
  // In the warp: a shuffle for each bit of the lane that moves along what is folded.
  unsigned lanes = layout.freeBits(Part::Lane, kept) & ~layout.freeBits(Part::Lane);
  for (unsigned bit = 0; bit < laneBits; ++bit)
    if (lanes >> bit & 1)
      for (Values &state : folded) {
        Values other =
            llvm::map_to_vector(state, [&](Value number) { return shuffleXor(number, 1u << bit); });
        state = combine(state, other);
      }
  if (unsigned mask = layout.freeBits(Part::Warp, kept) & ~layout.freeBits(Part::Warp))
    foldWarps(left, mask, folded, combine);
  if (unsigned mask = layout.freeBits(Part::Block, kept) & ~layout.freeBits(Part::Block))
    foldBlocks(left, mask, folded, combine);
}

std::pair<Layout, SmallVector<CodeBuilder::Values>> Exchange::reduceStates(const Layout &layout,
                                                                           ArrayRef<Values> states,
                                                                           ArrayRef<unsigned> kept,
                                                                           Combine combine) {
  Layout left = layout.project(kept);
  SmallVector<Values> folded = foldRegisters(layout, left, states, kept, combine);
  foldThreads(layout, kept, folded, combine);
  SmallVector<Values> result(states.size());
  for (const Values &state : folded)
    for (auto [n, number] : llvm::enumerate(state))
      result[n].push_back(number);
  return {left, result};
}

CodeBuilder::Values Exchange::identityOutside(ReduceOp op) {
  Tile input = ctx.tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Values mask = ctx.places.domainMask(input.axes, input.layout);
  Value identity = emitConstant(b, identityOf(op.getKind(), element));
  for (auto [number, holds] : llvm::zip(input.registers, mask))
    number = b.select(holds, number, identity);
  return input.registers;
}

CodeBuilder::Values Exchange::shareFirst(const Layout &layout, Values registers) {
  unsigned lanes = layout.freeBits(Part::Lane), ofWarps = layout.freeBits(Part::Warp);
  Type i32 = b.getI32Type();
  if (lanes == 0 && ofWarps == 0)
    return registers;
  if (ofWarps == 0) {
    Value first = b.fold<arith::AndIOp>(ctx.lane, b.integer(i32, ~lanes & 31));
    for (Value &element : registers)
      element = shuffleFrom(element, first);
    return registers;
  }
  SmallVector<int64_t> strides(layout.rank());
  int64_t places = 1;
  for (unsigned axis = layout.rank(); axis-- > 0;) {
    strides[axis] = places;
    places *= layout.extent(axis);
  }
  Type type = registers[0].getType(), stored = type.isInteger(1) ? Type(b.getI8Type()) : type;
  Value base = ctx.shared.take(places * std::max(1u, stored.getIntOrFloatBitWidth() / 8));
  auto addressOf = [&](int64_t r) {
    Index place = ctx.places.linearPlace(layout, r, strides);
    return ctx.shared.at(base, place.base, stored, place.constant);
  };
  ctx.barriers.meet();
  b.branch(
      ctx.places.isFirstCopy(layout),
      [&] {
        for (auto [r, element] : llvm::enumerate(registers))
          ctx.shared.store(element, addressOf(r));
        return Values();
      },
      [] { return Values(); });
  ctx.barriers.meet();
  for (auto [r, element] : llvm::enumerate(registers))
    element = ctx.shared.load(type, addressOf(r));
  return registers;
}

/// Whether a condition that differs by thread holds in any of the program.
Value Exchange::anyThread(Value condition) {
  Type i32 = b.getI32Type();
  Value any = inlineAsm(b, i32, b.fold<arith::ExtUIOp>(i32, condition),
                        "{ .reg .pred p; setp.ne.b32 p, $1, 0; bar.red.or.pred p, 0, p; "
                        "selp.b32 $0, 1, 0, p; }",
                        "=r,r,~{memory}", true);
  return b.compare(CmpIPredicate::ne, any, b.integer(i32, 0));
}
