//===- EmitCombine.cpp - sums of a cluster's blocks, added up -------------===//
//
// Each block of threads has contracted its own part, and has sums of all places. It leaves them in
// its shared memory, thread by thread as they are in registers, and tells all blocks of the
// cluster. Then each adds up what all have of its own columns, in the order of the blocks'
// numbers, so that sums are the same in each run. Thread t of every block has the
// same places: so what a thread reads are other blocks' words of its own number.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/PipelineEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Words that one access moves.
static constexpr int64_t wordsAtOnce = 4;

void PipelineEmitter::combineBlocks(CombineOp op) {
  Type i32 = b.getI32Type();
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  Tile parts = ctx.tile(op.getInput());
  Layout total = layoutOf(op.getType());
  Type element = getElementTypeOrSelf(op.getType());
  ChannelPlace place = channels.lookup(op.getChannel());
  int64_t threads = int64_t(ctx.warps) * 32, stride = threads * wordsAtOnce * 4;
  Value thread = b.add(b.mul(ctx.warp, c(32)), ctx.lane);
  Value own = b.add(ctx.shared.addressOf(place.slots), b.mul(thread, c(wordsAtOnce * 4)));
  ctx.barriers.meet(); // all warps have read the slots
  for (int64_t n = 0; n < parts.layout.numRegisters(); n += wordsAtOnce) {
    SmallVector<Value> operands = {b.add(own, c(n / wordsAtOnce * stride))};
    for (int64_t word = 0; word < wordsAtOnce; ++word)
      operands.push_back(b.bitcast(parts.registers[n + word], i32));
    inlineAsm(b, Type(), operands, "st.shared::cta.v4.b32 [$0], {$1, $2, $3, $4};",
              "r,r,r,r,r,~{memory}", true);
  }
  ctx.barriers.meetBlocks("release");

  // Columns of the next block are so many registers further on.
  int64_t columns = total.extentOfBlock(1);
  int64_t toNext = *parts.layout.registerAt({0, columns}) / wordsAtOnce * stride;
  Value first = b.add(own, b.mul(ctx.blockRank, c(toNext)));
  Values sums(total.numRegisters());
  Type words =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(wordsAtOnce, i32));
  for (unsigned block = 0; block < ctx.blocks; ++block) {
    Value there = inlineAsm(b, i32, {first, c(block)}, "mapa.shared::cluster.u32 $0, $1, $2;",
                            "=r,r,r", false);
    for (int64_t n = 0; n < total.numRegisters(); n += wordsAtOnce) {
      int64_t from = *parts.layout.registerAt(total.ofRegister(n));
      Value address = b.add(there, c(from / wordsAtOnce * stride));
      Value read =
          inlineAsm(b, words, {address}, "ld.shared::cluster.v4.b32 {$0, $1, $2, $3}, [$4];",
                    "=r,=r,=r,=r,r,~{memory}", true);
      for (int64_t word = 0; word < wordsAtOnce; ++word) {
        Value part = b.bitcast(LLVM::ExtractValueOp::create(b, read, word), element);
        Value &sum = sums[n + word];
        sum = block == 0        ? part
              : element.isF32() ? Value(arith::AddFOp::create(b, sum, part))
                                : b.add(sum, part);
      }
    }
  }
  ctx.bind(op.getResult(), sums);
}
