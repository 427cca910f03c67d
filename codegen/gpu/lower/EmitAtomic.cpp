//===- EmitAtomic.cpp - what other programs read and write meanwhile ------===//
//
// In grid kernels, an `inout` may be changed by other programs at any time, and
// read by other threads of the same program. So
//  - accesses of it go past the cache of the multiprocessor, and LLVM neither
//    repeats nor moves them;
//  - of several threads that hold copies of an element one reads it, and gives it
//    to the others: all threads of a program have to go the same way;
//  - between two accesses that may meet in an element, and of which one writes,
//    stands a barrier: a program sees its own in the order in which they stand.
//
// Atomic operations are the hardware's; max and min of floats, which know NaN and
// the zeros' signs, are made of compare-and-swap.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/AtomicEmitter.h"
#include "codegen/gpu/lower/InlineAsm.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

AtomicEmitter::AtomicEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<AtomicOp>([this](AtomicOp op) { emitAtomic(op); });
}

//===-- Operations --------------------------------------------------------===//

/// As PTX calls it; empty for max and min of floats.
static std::string nameOf(AtomicKind kind, Type type) {
  std::string bits = std::to_string(type.getIntOrFloatBitWidth());
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case AtomicKind::add:
    return (isFloat ? ".add.f" : ".add.u") + bits;
  case AtomicKind::max:
    return isFloat ? "" : ".max.s" + bits;
  case AtomicKind::min:
    return isFloat ? "" : ".min.s" + bits;
  case AtomicKind::umax:
    return ".max.u" + bits;
  case AtomicKind::umin:
    return ".min.u" + bits;
  case AtomicKind::andi:
    return ".and.b" + bits;
  case AtomicKind::ori:
    return ".or.b" + bits;
  case AtomicKind::xori:
    return ".xor.b" + bits;
  case AtomicKind::exchange:
    return ".exch.b" + bits;
  case AtomicKind::cas:
    return ".cas.b" + bits;
  }
  llvm_unreachable("covered switch");
}

static std::string nameOf(MemoryOrder order) {
  return "." + stringifyMemoryOrder(order).str() + ".gpu.global";
}

/// One instruction on the bits of an element, where the predicate holds; gives what stood there, 0
/// elsewhere. Without `expected` it takes `value` alone.
static Value emitAtom(CodeBuilder &b, const std::string &name, Value address, Value predicate,
                      Value value, Value expected) {
  Type bits = value.getType();
  std::string kind = bits.isInteger(64) ? "l" : "r";
  SmallVector<Value> operands = {address, predicate, value};
  std::string text = "@$2 atom" + name + " $0, [$1], $3;",
              constraints = "=" + kind + ",l,b," + kind;
  if (expected) {
    operands.push_back(expected);
    text = "@$2 atom" + name + " $0, [$1], $4, $3;";
    constraints += "," + kind;
  }
  operands.push_back(b.integer(bits, 0));
  return inlineAsm(b, bits, operands, text, constraints + ",0,~{memory}", /*hasSideEffects=*/true);
}

/// The same where nobody asks for what stood there.
static void emitRed(CodeBuilder &b, const std::string &name, Value address, Value predicate,
                    Value value) {
  std::string kind = value.getType().isInteger(64) ? "l" : "r";
  inlineAsm(b, Type(), {address, predicate, value}, "@$1 red" + name + " [$0], $2;",
            "l,b," + kind + ",~{memory}", /*hasSideEffects=*/true);
}

/// Until nobody was faster: what stands there, combined, takes its place.
Value AtomicEmitter::emitFloatExtreme(AtomicOp op, Value address, Value predicate, Value value) {
  Type type = value.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  std::string name = nameOf(op.getOrder()) + nameOf(AtomicKind::cas, type);
  auto kind = op.getKind() == AtomicKind::max ? CombineKind::max : CombineKind::min;
  Value always = b.i1(true), zero = b.integer(bits, 0);
  auto operate = [&] {
    bool isLong = bits.isInteger(64);
    Value found =
        inlineAsm(b, bits, address,
                  std::string("ld.relaxed.gpu.global.b") + (isLong ? "64" : "32") + " $0, [$1];",
                  std::string(isLong ? "=l" : "=r") + ",l,~{memory}",
                  /*hasSideEffects=*/true);
    auto tryOnce = [&](ValueRange carried) -> std::pair<Value, Values> {
      Value next = emitCombine(b, ctx.target, kind, type, b.bitcast(carried[0], type), value);
      Value stood = emitAtom(b, name, address, always, b.bitcast(next, bits), carried[0]);
      return {b.compare(CmpIPredicate::ne, stood, carried[0]), {stood}};
    };
    auto again = [](ValueRange stood) { return Values(stood); };
    return b.repeat(found, tryOnce, again, bits);
  };
  Value old =
      predicate ? b.branch(predicate, operate, [&] { return Values{zero}; })[0] : operate()[0];
  return b.bitcast(old, type);
}

Value AtomicEmitter::emitAtomicElement(AtomicOp op, Value address, Value predicate, Value value,
                                       Value expected) {
  Type type = value.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  std::string operation = nameOf(op.getKind(), type);
  if (operation.empty())
    return emitFloatExtreme(op, address, predicate, value);
  if (!predicate)
    predicate = b.i1(true);
  std::string name = nameOf(op.getOrder()) + operation;
  bool canReduce = op.getOrder() == MemoryOrder::relaxed && op.getKind() != AtomicKind::exchange &&
                   op.getKind() != AtomicKind::cas;
  if (op.getResult().use_empty() && canReduce) {
    emitRed(b, name, address, predicate, b.bitcast(value, bits));
    return b.bitcast(b.integer(bits, 0), type);
  }
  Value old = emitAtom(b, name, address, predicate, b.bitcast(value, bits),
                       expected ? b.bitcast(expected, bits) : Value());
  return b.bitcast(old, type);
}

void AtomicEmitter::emitAtomic(AtomicOp op) {
  Axes axes = axesOf(op.getType());
  Layout layout = ctx.layoutOfValue(op.getResult());
  bool releases = op.getOrder() == MemoryOrder::release || op.getOrder() == MemoryOrder::acq_rel;
  bool acquires = op.getOrder() == MemoryOrder::acquire || op.getOrder() == MemoryOrder::acq_rel;
  // What other threads of the program wrote is released, too, and what they read acquired.
  if (releases)
    ctx.barriers.meet();
  ctx.barriers.order(op.getTarget(), /*writes=*/true);
  Access access =
      ctx.memory.accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Values values = ctx.flatten(op.getValue()), olds;
  Values expected = op.getExpected() ? ctx.flatten(op.getExpected()) : Values();
  Value first = ctx.places.isFirstCopy(layout);
  auto plan = [&](int64_t r) {
    return Records::Planned{ctx.memory.indicesAt(access, r), access.mask[r]};
  };
  Values allowed = ctx.records.watch(op, access, layout, plan);
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
    Value mask = b.both(access.mask[r], first);
    if (!allowed.empty())
      mask = b.both(allowed[r], first);
    else if (op.getDrops())
      mask = ctx.memory.insideOf(access, indices, mask);
    olds.push_back(emitAtomicElement(op, ctx.memory.addressOf(access, indices), mask, values[r],
                                     expected.empty() ? Value() : expected[r]));
  }
  if (acquires)
    ctx.barriers.meet();
  if (!op.getResult().use_empty())
    olds = ctx.exchange.shareFirst(layout, std::move(olds));
  ctx.bind(op.getResult(), olds);
}
