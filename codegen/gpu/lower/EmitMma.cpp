//===- EmitMma.cpp - products of matrices in shared memory ----------------===//
//
// `wgmma`: the instruction finds its matrices by *descriptors*, which say where a matrix
// begins and how far it is from eight rows to the next and from panel to panel.
// Source: PTX ISA, "Matrix Descriptor Format" and "Strides" of wgmma.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/PipelineEmitter.h"

using namespace mlir;
using namespace tile::ir;
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

CodeBuilder::Values PipelineEmitter::waitForMma(ValueRange registers, int64_t pending) {
  return emitTiedAsm(b, registers, {}, "",
                     "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";");
}

/// The instruction's types and how many elements it contracts, and what follows its operands.
static std::string typesOf(Type element) {
  return element.isInteger(8)             ? "k32.s32.s8.s8 "
         : element.isBF16()               ? "k16.f32.bf16.bf16 "
         : element.isF16()                ? "k16.f32.f16.f16 "
         : element.isF32()                ? "k8.f32.tf32.tf32 "
         : isa<Float8E4M3FNType>(element) ? "k32.f32.e4m3.e4m3 "
                                          : "k32.f32.e5m2.e5m2 ";
}

/// One step's part of `a` in registers: words of two elements, in rows 0 and 8, then in the
/// columns 8 further. Source: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", matrix A.
static CodeBuilder::Values wordsOfStep(CodeBuilder &b, const Tile &a, int64_t row, int64_t step) {
  CodeBuilder::Values words;
  for (int64_t column : {16 * step, 16 * step + 8})
    for (int64_t r : {row, row + 8})
      words.push_back(packPair(b, a.registers[*a.layout.registerAt({r, column})],
                               a.registers[*a.layout.registerAt({r, column + 1})]));
  return words;
}

/// Starts the contractions of one repeat of rows, those of `registers`; as one group, if it
/// commits. Where `adds` is false the registers count as zeros; null: they never do.
CodeBuilder::Values PipelineEmitter::startMma(const MmaSource &source, ValueRange registers,
                                              int64_t rowRepeat, Value adds, bool commits) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  MmaOperand right{cast<SharedType>(source.b.getType()), source.bByColumns};
  Type element = right.type.getElement();
  // Columns that repeat follow each other in the registers, as the instruction has them.
  int64_t columns = source.layout.extent(1);
  int64_t width = mmaWidth(columns, element), pieces = columns / width;
  int64_t count = static_cast<int64_t>(registers.size()) / pieces;
  int64_t steps = right.depth() * element.getIntOrFloatBitWidth() / 8 / mmaDepthBytes;
  auto descriptor = [&](const MmaOperand &operand, Value address) {
    Value field = b.fold<arith::ShRUIOp>(b.fold<arith::AndIOp>(address, b.integer(i32, 0x3FFFF)),
                                         b.integer(i32, 4));
    return b.fold<arith::OrIOp>(b.fold<arith::ExtUIOp>(i64, field), b.i64(operand.descriptor()));
  };
  // By step: what the instruction takes of `a`, a descriptor or four words.
  SmallVector<Values> left(steps);
  auto shared = dyn_cast<SharedType>(source.a.getType());
  Value aStart;
  MmaOperand a{shared, source.aByColumns};
  if (shared) {
    // Each four warps begin at rows of their own.
    Value groupOfWarps = b.fold<arith::ShRUIOp>(ctx.warp, b.integer(i32, 2));
    aStart = descriptor(a, b.add(matrices.lookup(source.a),
                                 b.mul(groupOfWarps, b.integer(i32, a.toPlace(mmaRows)))));
  }
  int64_t firstRow = rowRepeat * int64_t(ctx.warps) * 16;
  Value bStart = descriptor(right, matrices.lookup(source.b));
  // Of floats: the factors' signs, and of halves which of them are turned.
  std::string tail = element.isInteger(8) ? "" : ", 1, 1";
  if (element.getIntOrFloatBitWidth() == 16)
    tail += std::string(!shared       ? ""
                        : a.byColumns ? ", 1"
                                      : ", 0") +
            (right.byColumns ? ", 1" : ", 0");
  tail += ";\n\t";
  Values all;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    int64_t bPlace = right.toPlace(piece * width);
    Values operands;
    unsigned next = 2 * count; // the instruction's operand
    std::string constraints, text, tests;
    for (int64_t step = 0; step < steps; ++step) {
      std::string first = "$" + std::to_string(next);
      if (shared) {
        operands.push_back(b.add(aStart, b.i64((a.toPlace(firstRow) + a.toStep(step)) >> 4)));
        constraints += ",l";
        next += 1;
      } else {
        if (left[step].empty())
          left[step] = wordsOfStep(b, ctx.tile(source.a), firstRow, step);
        llvm::append_range(operands, left[step]);
        constraints += ",r,r,r,r";
        first = operandList(next, 4);
        next += 4;
      }
      operands.push_back(b.add(bStart, b.i64((bPlace + right.toStep(step)) >> 4)));
      constraints += ",l";
      text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(width) + typesOf(element) +
              operandList(0, count) + ", " + first + ", $" + std::to_string(next++) +
              (adds && step == 0 ? ", adds" : ", 1") + tail;
      if (adds && step == 0)
        text += "}\n\t";
    }
    if (adds) {
      tests = "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, $" + std::to_string(next) + ", 0;\n\t";
      operands.push_back(b.fold<arith::ExtUIOp>(i32, adds));
      constraints += ",r";
    }
    if (commits && piece + 1 == pieces)
      text += "wgmma.commit_group.sync.aligned;\n\t";
    llvm::append_range(all,
                       emitTiedAsm(b, registers.slice(piece * count, count), operands, constraints,
                                   "{\n\twgmma.fence.sync.aligned;\n\t" + tests + text + "}"));
  }
  return all;
}

void PipelineEmitter::emitMma(MmaOp op) {
  Tile acc = ctx.tile(op.getAcc());
  MmaSource source{op.getA(), op.getB(), op.getAByColumns(), op.getBByColumns(), acc.layout};
  Value adds = op.getAdds() ? ctx.scalar(op.getAdds()) : Value();
  int64_t repeats = acc.layout.repeats()[0], count = acc.layout.numRegisters() / repeats;
  Values all;
  for (int64_t repeat = 0; repeat < repeats; ++repeat)
    llvm::append_range(all, startMma(source, ValueRange(acc.registers).slice(repeat * count, count),
                                     repeat, adds, repeat + 1 == repeats));
  ctx.bind(op.getResult(), all);
}

void PipelineEmitter::emitFresh(MmaFreshOp op) {
  Type tile = tileTypeOf(op.getResult());
  Value none = LLVM::PoisonOp::create(b, getElementTypeOrSelf(tile));
  ctx.bind(op.getResult(), Values(layoutOf(tile).numRegisters(), none));
}

//===-- Operands in registers ---------------------------------------------===//

/// Four matrices of 8 × 8 by one instruction (`ldmatrix`): rows 0 and 8, then columns 8 and on, of
/// 16 rows a warp. Each lane names a row of one of them in memory; in memory by columns, a column.
void PipelineEmitter::emitRead(ReadOp op) {
  Type i32 = b.getI32Type(), i16 = b.getI16Type();
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  SharedType matrix = op.getMatrix().getType();
  bool across = op.getByColumns();
  constexpr int64_t pieceBytes = 16, pieceColumns = 8;
  int64_t swizzle = matrix.getSwizzle(), pieces = swizzle / pieceBytes;
  Layout layout = layoutOf(op.getType());
  Value ofEight = b.fold<arith::AndIOp>(ctx.lane, c(7)),
        second = b.fold<arith::ShRUIOp>(ctx.lane, c(4));
  Value odd = b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(ctx.lane, c(3)), c(1));
  // Where the lane's row of the tile's first 16 × 16 is: its row in memory, and the piece in it.
  Value ownRow = b.mul(ctx.warp, c(16)), row, piece;
  if (across) {
    row = b.add(ofEight, b.mul(second, c(8)));
    piece = b.add(b.mul(ctx.warp, c(2)), odd);
  } else {
    row = b.add(b.add(ownRow, ofEight), b.mul(odd, c(8)));
    piece = second;
  }
  // Pieces change places by the bits of the address from 128 on; steps are multiples of 8 rows.
  Value inRow = b.add(matrices.lookup(op.getMatrix()), b.mul(row, c(swizzle)));
  Value moved =
      b.fold<arith::AndIOp>(b.fold<arith::ShRUIOp>(b.mul(row, c(swizzle)), c(7)), c(pieces - 1));
  Values registers(layout.numRegisters());
  for (int64_t r = 0; r < layout.extent(0); r += layout.atomExtent(0))
    for (int64_t j = 0; j < layout.extent(1); j += 16) {
      int64_t rowStep = across ? j : r, pieceStep = (across ? r : j) / pieceColumns;
      Value all = b.add(piece, c(pieceStep));
      Value panel = b.fold<arith::DivUIOp>(all, c(pieces)),
            inPanel = b.fold<arith::RemUIOp>(all, c(pieces));
      if (!across) { // the lane's piece is 0 or 1: no panel's end is between
        panel = c(pieceStep / pieces);
        inPanel = b.add(piece, c(pieceStep % pieces));
      }
      Value place = b.add(b.mul(panel, c(matrix.getPanelBytes())),
                          b.mul(b.fold<arith::XOrIOp>(inPanel, moved), c(pieceBytes)));
      Value address = b.add(b.add(inRow, c(rowStep * swizzle)), place);
      Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, i32));
      Value words =
          inlineAsm(b, result, {address},
                    std::string("ldmatrix.sync.aligned.m8n8.x4") + (across ? ".trans" : "") +
                        ".shared::cta.b16 {$0, $1, $2, $3}, [$4];",
                    "=r,=r,=r,=r,r,~{memory}", /*hasSideEffects=*/true);
      unsigned n = 0;
      for (int64_t column : {j, j + 8})
        for (int64_t below : {r, r + 8}) {
          Value word = LLVM::ExtractValueOp::create(b, words, n++);
          registers[*layout.registerAt({below, column})] = arith::TruncIOp::create(b, i16, word);
          registers[*layout.registerAt({below, column + 1})] =
              arith::TruncIOp::create(b, i16, b.fold<arith::ShRUIOp>(word, c(16)));
        }
    }
  for (Value &number : registers)
    number = ctx.memory.fromMemory(number, getElementTypeOrSelf(op.getType()));
  ctx.bind(op.getResult(), registers);
}
