//===- SharedMemory.cpp - shared memory of a block ------------------------===//

#include "codegen/gpu/lower/Context.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

static constexpr StringLiteral sharedName = "tile_shared";

Value SharedMemory::take(int64_t bytes) {
  if (floor + bytes > most) {
    most = floor + bytes;
    largestOp = ctx.currentOp;
  }
  auto module = ctx.function->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(sharedName);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // Of no size: the launch says how large it is. Slots of channels are aligned to 1024 bytes.
    constexpr unsigned sharedSpace = 3;
    unsigned alignment = floor ? 1024 : 128;
    global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, sharedName,
                                    Attribute(), alignment, sharedSpace);
  }
  return at(LLVM::AddressOfOp::create(b, global), Value(), b.getI8Type(), floor);
}

Value SharedMemory::at(Value base, Value index, Type element, int64_t constant) {
  auto step = [&](Value pointer, Value by) -> Value {
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{by});
  };
  Value address = index ? step(base, index) : base;
  return constant ? step(address, b.integer(b.getI32Type(), constant)) : address;
}

void SharedMemory::store(Value value, Value address) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  LLVM::StoreOp::create(b, value, address,
                        std::max(1u, value.getType().getIntOrFloatBitWidth() / 8));
}

Value SharedMemory::load(Type element, Value address) {
  bool isBool = element.isInteger(1);
  Type type = isBool ? Type(b.getI8Type()) : element;
  Value raw =
      LLVM::LoadOp::create(b, type, address, std::max(1u, type.getIntOrFloatBitWidth() / 8));
  return isBool ? b.compare(CmpIPredicate::ne, raw, b.integer(type, 0)) : raw;
}

Value SharedMemory::reserve(int64_t bytes) {
  Type i32 = b.getI32Type();
  if (!reservedBase) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ctx.prologue);
    reservedBase = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(0));
  }
  Value address =
      at(at(take(0), reservedBase, b.getI8Type()), Value(), b.getI8Type(), reservedBytes);
  reservedBytes += static_cast<int64_t>(llvm::alignTo(bytes, 128));
  return address;
}

Value SharedMemory::addressOf(int64_t offset) {
  Value base = LLVM::PtrToIntOp::create(b, b.getI32Type(), take(0));
  return b.add(base, b.integer(b.getI32Type(), offset - floor));
}

void SharedMemory::finish() {
  if (reservedBase)
    reservedBase.getDefiningOp<LLVM::ConstantOp>().setValueAttr(
        b.getI32IntegerAttr(static_cast<int32_t>(llvm::alignTo(most, 128))));
}
