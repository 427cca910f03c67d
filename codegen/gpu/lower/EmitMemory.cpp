//===- EmitMemory.cpp - loads and stores of tiles -------------------------===//

#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/lower/MemoryEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

MemoryEmitter::MemoryEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<LoadOp>([this](LoadOp op) {
    emitLoad(op);
    prefetchAfter(op);
  });
  ctx.onOp<StoreOp>([this](StoreOp op) { emitStore(op); });
}

void MemoryEmitter::emitScalarLoad(LoadOp op) {
  Access access =
      ctx.memory.accessOf(op.getSource(), op.getMap(), op.getDims(), op.getSyms(), {}, Layout(0));
  SmallVector<Index> indices = ctx.memory.indicesAt(access, 0);
  Layout layout = ctx.layoutOfScalar();
  Value mask = access.tensor.isContended ? ctx.places.isFirstCopy(layout) : Value();
  ctx.memory.applyBounds(op, access, indices, mask);
  Values allowed = ctx.records.watch(op, access, layout, [&](int64_t) {
    return Records::Planned{indices, mask};
  });
  if (!allowed.empty())
    mask = allowed[0];
  Value pad = op.getPad() ? ctx.scalar(op.getPad()) : Value();
  Values element =
      ctx.memory.read(access.tensor, ctx.memory.addressOf(access, indices), 1, mask, pad);
  if (access.tensor.isContended)
    element = ctx.exchange.shareFirst(layout, std::move(element));
  ctx.scalars[op.getResult()] = element[0];
}

void MemoryEmitter::emitLoad(LoadOp op) {
  ctx.barriers.order(op.getSource(), /*writes=*/false);
  Axes axes = axesOf(op.getType());
  if (axes.empty())
    return emitScalarLoad(op);
  Layout layout = layoutOf(op.getType());
  Access access =
      ctx.memory.accessOf(op.getSource(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  bool isChecked = op.getBounds() == BoundsMode::pad || op.getBounds() == BoundsMode::clamp;
  int64_t width = ctx.watches ? 1 : ctx.memory.vectorFor(access, isChecked);
  // Watched accesses are of single elements in the tensor.
  bool isKept = !ctx.watches && (op->hasAttr(keepAttrName) || op->hasAttr(keptAttrName));
  Values registers = isKept ? readKept(op, access, width) : readTile(op, access, width);
  if (ctx.slice) // those of other slices stay
    for (auto [known, now] : llvm::zip(ctx.tiles[op.getResult()].registers, registers))
      now = now ? now : known;
  ctx.tiles[op.getResult()] = {SmallVector<StringAttr>(axes), layout, std::move(registers)};
}

CodeBuilder::Values MemoryEmitter::readTile(LoadOp op, const Access &access, int64_t width) {
  Value pad = op.getPad() ? ctx.scalar(op.getPad()) : Value();
  Value first = access.tensor.isContended ? ctx.places.isFirstCopy(access.layout) : Value();
  auto plan = [&](int64_t r) {
    Records::Planned planned{ctx.memory.indicesAt(access, r), b.both(access.mask[r], first)};
    ctx.memory.applyBounds(op, access, planned.indices, planned.mask);
    return planned;
  };
  Values allowed = ctx.records.watch(op, access, access.layout, plan), registers;
  for (int64_t r = 0, count = access.layout.numRegisters(); r < count; r += width) {
    if (!ctx.isInSlice(axesOf(op.getType()), access.layout, r)) {
      registers.append(width, Value());
      continue;
    }
    auto [indices, mask] = plan(r);
    llvm::append_range(registers,
                       ctx.memory.read(access.tensor, ctx.memory.addressOf(access, indices), width,
                                       allowed.empty() ? mask : allowed[r], pad));
  }
  if (first)
    return ctx.exchange.shareFirst(access.layout, std::move(registers));
  return registers;
}

//===-- What is read again ------------------------------------------------===//

/// Each thread keeps what it has read in the program's shared memory, for itself alone: vector v of
/// chunk c of thread t is at ((c · vectors + v) · threads + t) · the vector's bytes, so that a
/// warp's vectors are neighbours. Chunks beyond those that are kept are read from the tensor again.
CodeBuilder::Values MemoryEmitter::readKept(LoadOp op, const Access &access, int64_t width) {
  auto first = op->getAttrOfType<IntegerAttr>(keepAttrName);
  auto again = op->getAttrOfType<IntegerAttr>(keptAttrName);
  int64_t chunks = ctx.kernel->getAttrOfType<IntegerAttr>(keptChunksAttrName).getInt();
  Kept &place = kept[(first ? first : again).getInt()];
  auto loop = op->getParentOfType<ForOp>();
  if (chunks == 0 || (again && (place.layout != access.layout || place.width != width)))
    return readTile(op, access, width);
  Type i32 = b.getI32Type(), element = memoryType(access.tensor.element);
  Type vector = lanesOf(element, width);
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8, threads = 32 * int64_t(ctx.warps);
  int64_t vectors = access.layout.numRegisters() / width;
  if (first)
    place = {access.layout, width, ctx.shared.reserve(chunks * vectors * threads * bytes)};
  Value number = b.fold<arith::DivUIOp>(
      b.sub(ctx.ranges.lookup(loop.getNameAttr()).origin, ctx.scalar(loop.getLower())),
      b.i64(loop.getSize()));
  number = b.fold<arith::TruncIOp>(i32, number);
  Value thread = b.add(b.mul(ctx.warp, b.integer(i32, 32)), ctx.lane);
  Value start = b.add(b.mul(number, b.integer(i32, vectors * threads)), thread);
  auto addressOfVector = [&](int64_t n) {
    return ctx.shared.at(place.base, start, vector, n * threads);
  };
  Value isInside = b.compare(CmpIPredicate::ult, number, b.integer(i32, chunks));
  if (first) {
    Values registers = readTile(op, access, width);
    b.branch(
        isInside,
        [&] {
          for (int64_t n = 0; n < vectors; ++n) {
            Value packed = ctx.memory.toMemory(registers[n * width], access.tensor.element);
            if (width > 1) {
              packed = LLVM::PoisonOp::create(b, vector);
              for (int64_t lane = 0; lane < width; ++lane)
                packed = b.insert(
                    packed, ctx.memory.toMemory(registers[n * width + lane], access.tensor.element),
                    lane);
            }
            LLVM::StoreOp::create(b, packed, addressOfVector(n), bytes);
          }
          return Values();
        },
        [&] { return Values(); });
    return registers;
  }
  return b.branch(
      isInside,
      [&] {
        Values registers;
        for (int64_t n = 0; n < vectors; ++n) {
          Value packed = LLVM::LoadOp::create(b, vector, addressOfVector(n), bytes);
          for (int64_t lane = 0; lane < width; ++lane)
            registers.push_back(ctx.memory.fromMemory(b.lane(packed, lane), access.tensor.element));
        }
        return registers;
      },
      [&] { return readTile(op, access, width); });
}

//===-- Stores ------------------------------------------------------------===//

void MemoryEmitter::emitStore(StoreOp op) {
  ctx.barriers.order(op.getTarget(), /*writes=*/true);
  Axes axes = axesOf(op.getValue().getType());
  Layout layout = ctx.layoutOfValue(op.getValue());
  Access access =
      ctx.memory.accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Values registers = ctx.flatten(op.getValue());
  Value first = ctx.places.isFirstCopy(layout);
  // Other threads of the program may have an element that they still read. (Those of grid kernels
  // were ordered above.)
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  if (!ctx.kernel.isGrid() && ctx.kernel.getParamMode(param) == ParamMode::InOut)
    ctx.barriers.meet();
  int64_t width = ctx.watches ? 1 : ctx.memory.vectorFor(access, /*isChecked=*/op.getDrops());
  auto plan = [&](int64_t r) {
    return Records::Planned{ctx.memory.indicesAt(access, r), access.mask[r]};
  };
  Values allowed = ctx.records.watch(op, access, layout, plan);
  for (int64_t r = 0, count = layout.numRegisters(); r < count; r += width) {
    if (!ctx.isInSlice(axes, layout, r))
      continue;
    Value mask = b.both(access.mask[r], first);
    SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
    if (!allowed.empty())
      mask = b.both(allowed[r], first);
    else if (op.getDrops())
      mask = ctx.memory.insideOf(access, indices, mask);
    ctx.memory.write(access.tensor, ctx.memory.addressOf(access, indices),
                     ValueRange(registers).slice(r, width), mask);
  }
}
