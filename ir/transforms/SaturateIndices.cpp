//===- SaturateIndices.cpp - keeps data out of 64-bit overflow ------------===//

#include "ir/transforms/SaturateIndices.h"
#include "ir/dialect/IndexLimits.h"
#include "ir/proofs/Coordinates.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;

void tile::ir::saturateIndices(KernelOp kernel) {
  Coordinates coordinates(kernel);
  auto saturate = [&](Operation *op, MutableOperandRange operands) {
    OpBuilder builder(op);
    for (OpOperand &operand : operands) {
      if (!operand.get().getType().isInteger(64) ||
          coordinates.isBounded(coordinates.trace(operand.get())))
        continue;
      Location loc = operand.get().getLoc();
      auto limit = [&](int64_t value) {
        return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
      };
      Value clamped = arith::MaxSIOp::create(builder, loc, operand.get(), limit(-saturatedIndex));
      operand.set(arith::MinSIOp::create(builder, loc, clamped, limit(saturatedIndex)));
    }
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<ParallelOp, ForOp, AxisOp>([&](auto op) {
          saturate(op, op.getLowerMutable());
          saturate(op, op.getUpperMutable());
        })
        .Case([&](scf::ForOp loop) {
          saturate(loop, loop.getLowerBoundMutable());
          saturate(loop, loop.getUpperBoundMutable());
          saturate(loop, loop.getStepMutable());
        })
        .Case([&](RestrictOp restrict) { saturate(restrict, restrict.getSymsMutable()); });
  });
}
