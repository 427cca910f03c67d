//===- Clusters.cpp - programs of several blocks --------------------------===//
//
// From compute capability 9.0 on, the blocks of a cluster run at the same time and
// read each other's shared memory. A program that is a cluster has the registers of
// all its blocks. What a reduction leaves in each block is sent to all of them,
// and each waits until its own memory has everything: that costs one way through
// the cluster, where a barrier of the cluster and a read would cost three.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/lower/InlineAsm.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// Inline assembly without results, in the order of what else touches memory.
static void perform(CodeBuilder &b, ValueRange operands, StringRef text, StringRef constraints) {
  inlineAsm(b, Type(), operands, text.str(), (constraints + ",~{memory}").str(),
            /*hasSideEffects=*/true);
}

/// Of shared memory, as instructions take it.
static Value asWord(CodeBuilder &b, Value address) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), address);
}

/// A number as a word of 32 or 64 bits, and back.
static Value toWord(CodeBuilder &b, Value value) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  Value integer = b.bitcast(value, b.getIntegerType(bits));
  return bits < 32 ? b.fold<arith::ExtUIOp>(b.getI32Type(), integer) : integer;
}

static Value fromWord(CodeBuilder &b, Value word, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32)
    word = b.fold<arith::TruncIOp>(b.getIntegerType(bits), word);
  return b.bitcast(word, type);
}

/// A barrier in shared memory at which so many bytes have to arrive. It is set up before the kernel
/// does anything else, and other blocks know that once all have passed `waitForBlocks`.
Value Exchange::arrivalOf(int64_t bytes) {
  Value address = ctx.shared.reserve(8);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(ctx.prologue);
  // In the prologue anew: the address above is made where the fold stands.
  Value early = asWord(
      b, ctx.shared.at(ctx.shared.at(ctx.shared.take(0), ctx.shared.reservedBase, b.getI8Type()),
                       Value(), b.getI8Type(), ctx.shared.reservedBytes - 128));
  Value thread = b.add(b.mul(ctx.warp, b.integer(b.getI32Type(), 32)), ctx.lane);
  Value isFirst = b.compare(CmpIPredicate::eq, thread, b.integer(b.getI32Type(), 0));
  Value operands[] = {early, b.integer(b.getI32Type(), bytes), isFirst};
  perform(b, operands,
          "@$2 mbarrier.init.shared::cta.b64 [$0], 1; "
          "@$2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
          "r,r,b");
  return address;
}

/// At the end of the prologue: this block may be written to. The others are waited for where they
/// are written to first.
void Exchange::announceBlock() {
  perform(b, ValueRange(),
          "fence.mbarrier_init.release.cluster; barrier.cluster.arrive.release.aligned;", "");
}

void Exchange::waitForBlocks() {
  if (!hasClusterFolds)
    perform(b, ValueRange(), "barrier.cluster.wait.acquire.aligned;", "");
  hasClusterFolds = true;
}

/// Sends a word to the same address in block `rank`, and tells its barrier.
static void sendTo(CodeBuilder &b, Value rank, Value address, Value word, Value arrival,
                   Value holds) {
  bool isWide = word.getType().getIntOrFloatBitWidth() == 64;
  std::string text = "{ .reg .b32 there, bar; mapa.shared::cluster.u32 there, $0, $2; "
                     "mapa.shared::cluster.u32 bar, $1, $2; @$4 "
                     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b" +
                     std::string(isWide ? "64" : "32") + " [there], $3, [bar]; }";
  Value operands[] = {asWord(b, address), asWord(b, arrival), rank, word, holds};
  perform(b, operands, text, isWide ? "r,r,r,l,b" : "r,r,r,r,b");
}

void Exchange::foldBlocks(const Layout &left, unsigned blockMask, MutableArrayRef<Values> folded,
                          Combine combine) {
  assert(blockMask == ctx.blocks - 1 && "only rows are split, over the whole cluster");
  SmallVector<int64_t> strides(left.rank());
  int64_t places = 1, bytes = 0;
  for (unsigned axis = left.rank(); axis-- > 0;) {
    strides[axis] = places;
    places *= left.extent(axis);
  }
  Type i32 = b.getI32Type();
  SmallVector<Value> arrays; // of each number, by block and place
  for (const Value &number : folded[0]) {
    int64_t size = number.getType().getIntOrFloatBitWidth() > 32 ? 8 : 4;
    arrays.push_back(ctx.shared.reserve(places * ctx.blocks * size));
    bytes += places * ctx.blocks * size;
  }
  Value arrival = arrivalOf(bytes);
  waitForBlocks();
  // One thread with a copy sends to each of the others' blocks.
  Value first = ctx.places.isFirstThread(left);
  if (!first)
    first = b.i1(true);
  Value own = b.mul(ctx.blockRank, b.integer(i32, places));
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = ctx.places.linearPlace(left, r, strides);
    Value at = place.base ? b.add(place.base, own) : own;
    for (auto [n, number] : llvm::enumerate(state)) {
      Value word = toWord(b, number);
      Value address = ctx.shared.at(arrays[n], at, word.getType(), place.constant);
      for (unsigned rank = 0; rank < ctx.blocks; ++rank)
        sendTo(b, b.integer(i32, rank), address, word, arrival, first);
    }
  }
  perform(b, asWord(b, arrival),
          "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, "
          "[$0], 0; @done bra DONE; bra WAIT; DONE: }",
          "r");
  for (auto [r, state] : llvm::enumerate(folded)) {
    Index place = ctx.places.linearPlace(left, r, strides);
    Values sum;
    for (unsigned rank = 0; rank < ctx.blocks; ++rank) {
      Values theirs;
      for (auto [n, number] : llvm::enumerate(state)) {
        Type type = number.getType();
        Type word = b.getIntegerType(std::max(32u, type.getIntOrFloatBitWidth()));
        Value address = ctx.shared.at(arrays[n], place.base, word, place.constant + rank * places);
        theirs.push_back(fromWord(b, ctx.shared.load(word, address), type));
      }
      sum = rank ? combine(sum, theirs) : theirs;
    }
    state = sum;
  }
}
