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

/// Starts the products of one repeat of rows, those of `registers`; as one group, if it commits.
/// Where `adds` is false the registers count as zeros; null: they never do.
CodeBuilder::Values KernelLowering::startMma(const MmaSource &source, ValueRange registers,
                                             int64_t rowRepeat, Value adds, bool commits) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  MmaOperand a{cast<SharedType>(source.a.getType()), source.aByColumns};
  MmaOperand right{cast<SharedType>(source.b.getType()), source.bByColumns};
  // Columns that repeat follow each other in the registers, as the instruction has them.
  int64_t columns = source.layout.extent(1);
  int64_t width = mmaWidth(columns, a.type.getElement()), pieces = columns / width;
  int64_t count = static_cast<int64_t>(registers.size()) / pieces;
  // Each four warps begin at rows of their own.
  Value groupOfWarps = b.fold<arith::ShRUIOp>(warp, b.integer(i32, 2));
  Value aAddress =
      b.add(matrices.lookup(source.a), b.mul(groupOfWarps, b.integer(i32, a.toPlace(mmaRows))));
  auto descriptor = [&](const MmaOperand &operand, Value address) {
    Value field = b.fold<arith::ShRUIOp>(b.fold<arith::AndIOp>(address, b.integer(i32, 0x3FFFF)),
                                         b.integer(i32, 4));
    return b.fold<arith::OrIOp>(b.fold<arith::ExtUIOp>(i64, field), b.i64(operand.descriptor()));
  };
  Value aStart = descriptor(a, aAddress), bStart = descriptor(right, matrices.lookup(source.b));
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
  int64_t aPlace = a.toPlace(rowRepeat * int64_t(warps) * 16);
  int64_t steps = a.depth() * element.getIntOrFloatBitWidth() / 8 / mmaDepthBytes;
  Values all;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    int64_t bPlace = right.toPlace(piece * width);
    Values descriptors;
    std::string constraints, text = "{\n\twgmma.fence.sync.aligned;\n\t";
    if (adds)
      text += "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, $" +
              std::to_string(2 * count + 2 * steps) + ", 0;\n\t";
    for (int64_t step = 0; step < steps; ++step) {
      descriptors.push_back(b.add(aStart, b.i64((aPlace + a.toStep(step)) >> 4)));
      descriptors.push_back(b.add(bStart, b.i64((bPlace + right.toStep(step)) >> 4)));
      constraints += ",l,l";
      text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(width) + types +
              operandList(0, count) + ", $" + std::to_string(2 * count + 2 * step) + ", $" +
              std::to_string(2 * count + 2 * step + 1) + (adds && step == 0 ? ", adds" : ", 1") +
              tail;
      if (adds && step == 0)
        text += "}\n\t";
    }
    if (adds) {
      descriptors.push_back(b.fold<arith::ExtUIOp>(i32, adds));
      constraints += ",r";
    }
    if (commits && piece + 1 == pieces)
      text += "wgmma.commit_group.sync.aligned;\n\t";
    llvm::append_range(all, emitTiedAsm(b, registers.slice(piece * count, count), descriptors,
                                        constraints, text + "}"));
  }
  return all;
}

void KernelLowering::emitMma(MmaOp op) {
  Tile acc = tile(op.getAcc());
  MmaSource source{op.getA(), op.getB(), op.getAByColumns(), op.getBByColumns(), acc.layout};
  Value adds = op.getAdds() ? scalar(op.getAdds()) : Value();
  int64_t repeats = acc.layout.repeats()[0], count = acc.layout.numRegisters() / repeats;
  Values all;
  for (int64_t repeat = 0; repeat < repeats; ++repeat)
    llvm::append_range(all, startMma(source, ValueRange(acc.registers).slice(repeat * count, count),
                                     repeat, adds, repeat + 1 == repeats));
  bind(op.getResult(), all);
}
