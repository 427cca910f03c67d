//===- Exchange.cpp - elements that move between threads ------------------===//
//
// Within a thread nothing has to be done, within a warp shuffles do it, and between
// warps the program's shared memory.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"
#include "codegen/gpu/VerifyLayouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

//===-- Shared memory -----------------------------------------------------===//

static constexpr StringLiteral sharedName = "tile_shared";

void KernelLowering::barrier() {
  auto number = [&](unsigned value) { return b.integer(b.getI32Type(), value); };
  if (barrierNumber == 0)
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                  ValueRange{number(0)});
  else // of the warps of one role
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.count"),
                                  ValueRange{number(barrierNumber), number(warps * 32)});
  for (auto &[memory, made] : accesses)
    made.isRead = made.isWritten = false;
}

Value KernelLowering::shared(int64_t bytes) {
  if (sharedFloor + bytes > mostShared) {
    mostShared = sharedFloor + bytes;
    mostSharedOp = currentOp;
  }
  auto module = function->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(sharedName);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // Of no size: the launch says how large it is. Slots of channels are aligned to 1024 bytes.
    constexpr unsigned sharedSpace = 3;
    unsigned alignment = sharedFloor ? 1024 : 128;
    global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, sharedName,
                                    Attribute(), alignment, sharedSpace);
  }
  return sharedAt(LLVM::AddressOfOp::create(b, global), Value(), b.getI8Type(), sharedFloor);
}

Value KernelLowering::sharedAt(Value base, Value index, Type element, int64_t constant) {
  auto step = [&](Value pointer, Value by) -> Value {
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{by});
  };
  Value address = index ? step(base, index) : base;
  return constant ? step(address, b.integer(b.getI32Type(), constant)) : address;
}

void KernelLowering::storeShared(Value value, Value address) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  LLVM::StoreOp::create(b, value, address,
                        std::max(1u, value.getType().getIntOrFloatBitWidth() / 8));
}

Value KernelLowering::loadShared(Type element, Value address) {
  bool isBool = element.isInteger(1);
  Type type = isBool ? Type(b.getI8Type()) : element;
  Value raw =
      LLVM::LoadOp::create(b, type, address, std::max(1u, type.getIntOrFloatBitWidth() / 8));
  return isBool ? b.compare(CmpIPredicate::ne, raw, b.integer(type, 0)) : raw;
}

/// A type's element in shared memory.
static Type storedType(CodeBuilder &b, Type type) {
  return type.isInteger(1) ? Type(b.getI8Type()) : type;
}

static int64_t bytesOf(Type type) { return std::max(1u, type.getIntOrFloatBitWidth() / 8); }

Index KernelLowering::linearPlace(const Layout &layout, int64_t reg, ArrayRef<int64_t> strides) {
  Type i32 = b.getI32Type();
  Index place;
  Layout::Coords constant = layout.ofRegister(reg);
  auto add = [&](Value term) { place.base = place.base ? b.add(place.base, term) : term; };
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    bool isSum = isAdditive(layout, axis);
    Value local = isSum ? threadPlace(layout, axis) : localPlace(layout, axis, reg);
    add(b.mul(local, b.integer(i32, strides[axis])));
    if (isSum)
      place.constant += constant[axis] * strides[axis];
  }
  return place;
}

//===-- Conversions -------------------------------------------------------===//

CodeBuilder::Values KernelLowering::exchangeLanes(const WarpExchange &exchange,
                                                  ValueRange registers) {
  Type i32 = b.getI32Type();
  auto constant = [&](unsigned value) { return b.integer(i32, value); };
  Value base = constant(0);
  for (auto [bit, step] : llvm::enumerate(exchange.steps))
    if (step) {
      Value isSet = b.fold<arith::AndIOp>(
          b.fold<arith::ShRUIOp>(lane, constant(static_cast<unsigned>(bit))), constant(1));
      base = b.fold<arith::XOrIOp>(base, b.mul(isSet, constant(step)));
    }
  Values made;
  for (auto [source, first] : llvm::zip(exchange.registers, exchange.lanes))
    made.push_back(shuffleFrom(registers[source], b.fold<arith::XOrIOp>(base, constant(first))));
  return made;
}

Tile KernelLowering::convert(const Tile &from, const Layout &layout) {
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
  Value base = shared(stride * bytesOf(stored));
  barrier();
  for (int64_t r = 0, count = from.layout.numRegisters(); r < count; ++r) {
    Index place = linearPlace(from.layout, r, strides);
    storeShared(from.registers[r], sharedAt(base, place.base, stored, place.constant));
  }
  barrier();
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Index place = linearPlace(layout, r, strides);
    made.registers.push_back(loadShared(type, sharedAt(base, place.base, stored, place.constant)));
  }
  return made;
}

void KernelLowering::emitConvert(ConvertOp op) {
  if (isMadeByDots(op))
    return;
  tiles[op.getResult()] = convert(tile(op.getInput()), layoutOf(op.getType()));
}

//===-- Reductions --------------------------------------------------------===//

Value KernelLowering::shuffleXor(Value value, unsigned mask) {
  return shuffle(value, "llvm.nvvm.shfl.sync.bfly.i32", b.integer(b.getI32Type(), mask));
}

Value KernelLowering::shuffleFrom(Value value, Value from) {
  return shuffle(value, "llvm.nvvm.shfl.sync.idx.i32", from);
}

Value KernelLowering::shuffle(Value value, StringRef intrinsic, Value operand) {
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

SmallVector<CodeBuilder::Values>
KernelLowering::foldRegisters(const Layout &layout, const Layout &left, ArrayRef<Values> states,
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

void KernelLowering::foldWarps(const Layout &left, unsigned warpMask,
                               MutableArrayRef<Values> folded, Combine combine) {
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
    Value isSet =
        b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(warp, b.integer(i32, bit)), b.integer(i32, 1));
    slot = b.add(slot, b.mul(isSet, b.integer(i32, places << n)));
  }
  int64_t slots = places << bits.size();
  size_t numbers = folded[0].size();
  SmallVector<int64_t> starts;
  for (size_t n = 0; n < numbers; ++n) {
    starts.push_back(bytes);
    bytes += llvm::alignTo(slots * bytesOf(folded[0][n].getType()), 16);
  }
  Value base = shared(bytes);
  auto arrayOf = [&](size_t n) { return sharedAt(base, Value(), b.getI8Type(), starts[n]); };
  barrier();
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = linearPlace(left, r, strides);
    Value at = place.base ? b.add(place.base, slot) : slot;
    for (auto [n, number] : llvm::enumerate(state))
      storeShared(number,
                  sharedAt(arrayOf(n), at, storedType(b, number.getType()), place.constant));
  }
  barrier();
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = linearPlace(left, r, strides);
    Values sum;
    for (int64_t other = 0; other < int64_t(1) << bits.size(); ++other) {
      Values theirs;
      for (auto [n, number] : llvm::enumerate(state)) {
        Type type = number.getType();
        theirs.push_back(loadShared(type, sharedAt(arrayOf(n), place.base, storedType(b, type),
                                                   place.constant + other * places)));
      }
      sum = other ? combine(sum, theirs) : theirs;
    }
    state = sum;
  }
}

void KernelLowering::foldThreads(const Layout &layout, ArrayRef<unsigned> kept,
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

std::pair<Layout, SmallVector<CodeBuilder::Values>>
KernelLowering::reduceStates(const Layout &layout, ArrayRef<Values> states, ArrayRef<unsigned> kept,
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

CodeBuilder::Values KernelLowering::identityOutside(ReduceOp op) {
  Tile input = tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Values mask = domainMask(input.axes, input.layout);
  Value identity = emitConstant(b, identityOf(op.getKind(), element));
  for (auto [number, holds] : llvm::zip(input.registers, mask))
    number = b.select(holds, number, identity);
  return input.registers;
}

void KernelLowering::emitReduce(ReduceOp op) {
  if (!foldsInCluster(op))
    return fail(op,
                "blocks of a cluster fold all together and once, not some of them or in a loop");
  Tile input = tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  SmallVector<unsigned> kept = keptAxes(op);
  auto combine = [&](ValueRange x, ValueRange y) {
    return Values{emitCombine(b, target, op.getKind(), element, x[0], y[0])};
  };
  if (apart.contains(op)) {
    Values own;
    for (const Values &state : foldRegisters(input.layout, input.layout.project(kept),
                                             {identityOutside(op)}, kept, combine))
      own.push_back(state[0]);
    return bind(op.getResult(), own);
  }
  Values result = reduceStates(input.layout, identityOutside(op), kept, combine).second.front();
  // One that ignores NaN has met nothing where all is NaN.
  if (op.getKind() == CombineKind::fmax || op.getKind() == CombineKind::fmin) {
    Value nothing = emitConstant(b, identityOf(op.getKind(), element));
    for (Value &number : result)
      number = combine(nothing, number)[0];
  }
  bind(op.getResult(), result);
}

void KernelLowering::emitPartialReduce(PartialReduceOp op) {
  Tile input = tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  SmallVector<unsigned> kept;
  for (auto [n, axis] : llvm::enumerate(input.axes))
    if (axis != op.getAxisAttr())
      kept.push_back(n);
  auto combine = [&](ValueRange x, ValueRange y) {
    return Values{emitCombine(b, target, op.getKind(), element, x[0], y[0])};
  };
  Values own;
  for (const Values &state :
       foldRegisters(input.layout, input.layout.project(kept), {input.registers}, kept, combine))
    own.push_back(state[0]);
  bind(op.getResult(), own);
}

void KernelLowering::emitCountOp(CountOp op) {
  SmallVector<StringAttr> axes(axesOf(op.getResult().getType()));
  SmallVector<unsigned> kept = llvm::to_vector(llvm::seq<unsigned>(0, axes.size()));
  for (Value span : op.getSpans())
    axes.push_back(axisOf(span));
  SmallVector<int64_t> extents = llvm::map_to_vector(axes, [&](StringAttr axis) {
    return cast<SpanType>(domains.spanOf(axis.getValue()).getType()).getExtent();
  });
  SmallVector<unsigned> order = llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, axes.size())));
  Layout layout = Layout::blocked({extents, order, {}, 1, warps});
  Values mask = domainMask(axes, layout), counts;
  Type type = getElementTypeOrSelf(op.getResult().getType());
  for (Value holds : mask)
    counts.push_back(b.select(holds, b.integer(type, 1), b.integer(type, 0)));
  // Copies of an element are counted once: the fold does not go over them.
  auto [left, states] = reduceStates(
      layout, counts, kept, [&](ValueRange x, ValueRange y) { return Values{b.add(x[0], y[0])}; });
  if (kept.empty())
    return bind(op.getResult(), states[0]);
  Tile made{SmallVector<StringAttr>(axesOf(op.getResult().getType())), left, states[0]};
  tiles[op.getResult()] = convert(made, layoutOf(op.getResult().getType()));
}
