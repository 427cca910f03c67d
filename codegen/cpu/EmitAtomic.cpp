//===- EmitAtomic.cpp - atomic operations, one element at a time ----------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using LLVM::AtomicBinOp;
using LLVM::AtomicOrdering;

static AtomicOrdering orderingOf(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::relaxed:
    return AtomicOrdering::monotonic;
  case MemoryOrder::acquire:
    return AtomicOrdering::acquire;
  case MemoryOrder::release:
    return AtomicOrdering::release;
  case MemoryOrder::acq_rel:
    return AtomicOrdering::acq_rel;
  }
  llvm_unreachable("covered switch");
}

/// A failed compare-and-swap stores nothing that others could acquire.
static AtomicOrdering orderingOfFailure(MemoryOrder order) {
  bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acq_rel;
  return acquires ? AtomicOrdering::acquire : AtomicOrdering::monotonic;
}

/// Null for compare-and-swap.
static std::optional<AtomicBinOp> binaryOf(AtomicKind kind, bool isFloat) {
  switch (kind) {
  case AtomicKind::add:
    return isFloat ? AtomicBinOp::fadd : AtomicBinOp::add;
  case AtomicKind::max:
    return isFloat ? AtomicBinOp::fmaximum : AtomicBinOp::max;
  case AtomicKind::min:
    return isFloat ? AtomicBinOp::fminimum : AtomicBinOp::min;
  case AtomicKind::umax:
    return AtomicBinOp::umax;
  case AtomicKind::umin:
    return AtomicBinOp::umin;
  case AtomicKind::andi:
    return AtomicBinOp::_and;
  case AtomicKind::ori:
    return AtomicBinOp::_or;
  case AtomicKind::xori:
    return AtomicBinOp::_xor;
  case AtomicKind::exchange:
    return AtomicBinOp::xchg;
  case AtomicKind::cas:
    return std::nullopt;
  }
  llvm_unreachable("covered switch");
}

/// The operation on one element; gives what stood there.
static Value emitOne(CodeBuilder &b, AtomicOp op, Value pointer, Value value, Value expected) {
  Type type = value.getType();
  if (auto binary = binaryOf(op.getKind(), isa<FloatType>(type)))
    return LLVM::AtomicRMWOp::create(b, *binary, pointer, value, orderingOf(op.getOrder()));
  // By their bits, which only integers have.
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value exchanged =
      LLVM::AtomicCmpXchgOp::create(b, pointer, b.bitcast(expected, bits), b.bitcast(value, bits),
                                    orderingOf(op.getOrder()), orderingOfFailure(op.getOrder()));
  Value old = LLVM::ExtractValueOp::create(b, exchanged, ArrayRef<int64_t>{0});
  return b.bitcast(old, type);
}

void BodyLowering::emitAtomic(AtomicOp op) {
  SmallVector<StringAttr> axes = op.getAxisList().names;
  Memory memory = memoryOf(op.getTarget());
  Buffer *into = op.getResult().use_empty() ? nullptr : resultBuffer(op.getType());
  Value result;
  nest(axes, StringAttr(), {}, [&](ValueRange) {
    Value value = emit(op.getValue());
    Value expected = op.getExpected() ? emit(op.getExpected()) : Value();
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    Value mask = watched(op, indices, domainMask(axes));
    if (op.getDrops())
      mask = b.both(mask, insideOf(memory, indices, 1,
                                   provedInside(op.getTarget(), op.getMap(), op.getDims())));
    Place place = locate(memory, indices, 1);
    Value pointer = b.at(place.pointer, place.offset.value, memory.element);
    auto operate = [&] { return Values{emitOne(b, op, pointer, value, expected)}; };
    auto leaveOut = [&] {
      Type type = memory.element;
      return Values{isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0)};
    };
    result = mask ? b.branch(mask, operate, leaveOut)[0] : operate()[0];
    if (into)
      writeBuffer(*into, result);
    return Values();
  });
  setResult(op.getResult(), into, result);
}
