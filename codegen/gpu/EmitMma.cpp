//===- EmitMma.cpp - products of matrices in shared memory ----------------===//
//
// `wgmma`: the instruction finds its matrices by *descriptors*, which say where a matrix
// begins and how far it is from eight rows to the next and from panel to panel.
// Source: PTX ISA, "Matrix Descriptor Format" and "Strides" of wgmma.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"
#include "codegen/gpu/Mma.h"

using namespace mlir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// One operand: how a descriptor is made, and how far it is to parts of the matrix, in bytes.
namespace {
struct MmaOperand {
  SharedType type;
  /// Whether what is contracted goes along its rows' numbers: columns are neighbours in memory.
  bool byColumns;

  /// All of a descriptor but the address.
  int64_t descriptor() const {
    auto field = [](int64_t bytes) { return bytes >> 4; };
    int64_t swizzle = type.getSwizzle(), code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    int64_t leading = byColumns ? field(type.getPanelBytes()) : 1, stride = field(8 * swizzle);
    return code << 62 | stride << 32 | leading << 16;
  }
  /// To row or column `place` of the result.
  int64_t toPlace(int64_t place) const {
    return byColumns ? place / type.getPanelColumns() * type.getPanelBytes()
                     : place * type.getSwizzle();
  }
  /// To the n-th step of the contraction.
  int64_t toStep(int64_t n) const {
    if (byColumns)
      return n * (mmaDepthBytes / 2) * type.getSwizzle();
    int64_t bytes = n * mmaDepthBytes, swizzle = type.getSwizzle();
    return bytes / swizzle * type.getPanelBytes() + bytes % swizzle;
  }
  int64_t depth() const { return byColumns ? type.getRows() : type.getColumns(); }
};
} // namespace

CodeBuilder::Values KernelLowering::waitForMma(ValueRange registers, int64_t pending) {
  return emitTiedAsm(b, registers, {}, "",
                     "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";");
}

void KernelLowering::emitMma(MmaOp op) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  RankedTensorType result = op.getAcc().getType().getTile();
  MmaOperand a{op.getA().getType(), op.getAByColumns()};
  MmaOperand right{op.getB().getType(), op.getBByColumns()};
  Tile acc = tile(op.getAcc());
  int64_t rows = warps * 16, width = mmaColumns(result.getDimSize(1));
  int64_t rowRepeats = acc.layout.repeats()[0], columnRepeats = acc.layout.repeats()[1];
  int64_t count = acc.layout.numRegisters() / (rowRepeats * columnRepeats);
  // Each four warps begin at rows of their own.
  Value groupOfWarps = b.fold<arith::ShRUIOp>(warp, b.integer(i32, 2));
  Value aAddress =
      b.add(matrices.lookup(op.getA()), b.mul(groupOfWarps, b.integer(i32, a.toPlace(mmaRows))));
  auto descriptor = [&](const MmaOperand &operand, Value address) {
    Value field = b.fold<arith::ShRUIOp>(b.fold<arith::AndIOp>(address, b.integer(i32, 0x3FFFF)),
                                         b.integer(i32, 4));
    return b.fold<arith::OrIOp>(b.fold<arith::ExtUIOp>(i64, field), b.i64(operand.descriptor()));
  };
  Value aStart = descriptor(a, aAddress), bStart = descriptor(right, matrices.lookup(op.getB()));
  Type element = a.type.getElement();
  bool isInteger = element.isInteger(8);
  std::string types = isInteger                        ? "k32.s32.s8.s8 "
                      : element.isBF16()               ? "k16.f32.bf16.bf16 "
                      : element.isF16()                ? "k16.f32.f16.f16 "
                      : element.isF32()                ? "k8.f32.tf32.tf32 "
                      : isa<Float8E4M3FNType>(element) ? "k32.f32.e4m3.e4m3 "
                                                       : "k32.f32.e5m2.e5m2 ";
  // Of floats: the factors' signs, and of halves which of them are turned.
  std::string tail = isInteger ? "" : ", 1, 1";
  if (element.getIntOrFloatBitWidth() == 16)
    tail += std::string(", ") + (a.byColumns ? "1" : "0") + ", " + (right.byColumns ? "1" : "0");
  tail += ";\n\t";
  Values all;
  for (int64_t repeat = 0; repeat < rowRepeats * columnRepeats; ++repeat) {
    int64_t aPlace = a.toPlace(repeat / columnRepeats * rows);
    int64_t bPlace = right.toPlace(repeat % columnRepeats * width);
    int64_t steps = a.depth() * element.getIntOrFloatBitWidth() / 8 / mmaDepthBytes;
    Values descriptors;
    std::string constraints, text = "{\n\twgmma.fence.sync.aligned;\n\t";
    if (op.getAdds())
      text += "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, $" +
              std::to_string(2 * count + 2 * steps) + ", 0;\n\t";
    for (int64_t step = 0; step < steps; ++step) {
      descriptors.push_back(b.add(aStart, b.i64((aPlace + a.toStep(step)) >> 4)));
      descriptors.push_back(b.add(bStart, b.i64((bPlace + right.toStep(step)) >> 4)));
      constraints += ",l,l";
      text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(width) + types +
              operandList(0, count) + ", $" + std::to_string(2 * count + 2 * step) + ", $" +
              std::to_string(2 * count + 2 * step + 1) +
              (op.getAdds() && step == 0 ? ", adds" : ", 1") + tail;
      if (op.getAdds() && step == 0)
        text += "}\n\t";
    }
    if (op.getAdds()) {
      descriptors.push_back(b.fold<arith::ExtUIOp>(i32, scalar(op.getAdds())));
      constraints += ",r";
    }
    if (repeat + 1 == rowRepeats * columnRepeats)
      text += "wgmma.commit_group.sync.aligned;\n\t";
    llvm::append_range(all, emitTiedAsm(b, ValueRange(acc.registers).slice(repeat * count, count),
                                        descriptors, constraints, text + "}"));
  }
  bind(op.getResult(), all);
}
