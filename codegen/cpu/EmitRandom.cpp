//===- EmitRandom.cpp - random bits, a block for four neighbours ----------===//
//
// A block of Philox has the bits of four draws, so a vector of blocks serves four
// vectors of draws: those that a round of the innermost loop computes one after the
// other. The words go through memory, where draws begin at any word of a block.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

static bool movesElements(Operation *) { return false; }

int BodyLowering::vectorsFor(StringAttr axis, ValueRange pulled) const {
  constexpr int ofBlock = 4;
  if (!axis || target.lanes() < ofBlock)
    return 1;
  int64_t extent = cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
  if (!ShapedType::isDynamic(extent) && extent < ofBlock * target.lanes())
    return 1;
  SmallVector<Value> open(pulled), rest;
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || axesOf(value.getType()).empty() || bufferOf(value) || Plan::isRoot(op) ||
        !seen.insert(value).second)
      continue;
    if (auto philox = dyn_cast<PhiloxOp>(op);
        philox && drawsAlong(philox, axis, movesElements, rest))
      return ofBlock;
    llvm::append_range(open, op->getOperands());
  }
  return 1;
}

/// Words of blocks one after the other: w0, w1, w2, w3 of the first, and so on.
static Value inOrder(CodeBuilder &b, ArrayRef<Value> words) {
  auto interleave = [&](Value x, Value y) -> Value {
    int width = widthOf(x);
    SmallVector<int32_t> lanes;
    for (int lane = 0; lane < width; ++lane)
      llvm::append_values(lanes, lane, lane + width);
    return LLVM::ShuffleVectorOp::create(b, x, y, lanes);
  };
  Type pairs = lanesOf(b.getI64Type(), widthOf(words[0]));
  Value low = b.bitcast(interleave(words[0], words[1]), pairs);
  Value high = b.bitcast(interleave(words[2], words[3]), pairs);
  return interleave(low, high);
}

Draws BodyLowering::drawRound(PhiloxOp op, Value first, int draws, bool mayBranch) {
  constexpr int before = 16; // words: stores stay aligned
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  int blocks = mayBranch ? draws / 4 : draws / 2;
  Value words;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    words = LLVM::AllocaOp::create(b, b.ptr(), i32, b.i64(before + draws * 2 + 16), 64);
  }
  Value seed = b.lane(emit(op.getSeed()), 0), stream = b.lane(emit(op.getStream()), 0);
  auto blockOf = [&](Value draw) {
    return b.fold<arith::ShRUIOp>(draw, b.integer(draw.getType(), 2));
  };
  Value ahead = b.mul(b.iota(blocks), b.i64(4));
  Value numbers = blockOf(b.add(first, ahead));
  b.store(inOrder(b, emitPhiloxBlock(b, seed, stream, numbers)), b.at(words, b.i64(before), i32));
  Value skipped = b.fold<arith::AndIOp>(first, b.i64(3));
  if (mayBranch) {
    // Draws that begin within a block end within another one.
    auto last = [&] {
      auto block = emitPhiloxBlock(b, seed, stream, blockOf(b.add(first, b.i64(draws))));
      for (auto [n, word] : llvm::enumerate(block))
        b.store(word, b.at(words, b.i64(before + draws + static_cast<int>(n)), i32));
      return Values();
    };
    b.branch(b.compare(CmpIPredicate::ne, skipped, b.i64(0)), last, [] { return Values(); });
  }
  return {op.getSeed(), op.getStream(), op.getIndex(),
          b.at(words, b.add(skipped, b.i64(before)), i32),
          b.fold<arith::AndIOp>(skipped, b.integer(i64, 1))};
}

Value BodyLowering::emitDraws(PhiloxOp op) {
  auto isVector = [&](const Level &level) {
    SmallVector<Value> rest;
    return level.width >= 4 && drawsAlong(op, level.axis, movesElements, rest);
  };
  Level *level = llvm::find_if(levels, isVector);
  if (level == levels.end())
    return {};
  // What is made in a loop further in is another round's there.
  bool isShared = level == &levels.back() && level->copies > 1;
  int width = level->width, copy = isShared ? level->copy : 0,
      copies = isShared ? level->copies : 1;
  auto isSame = [&](const Draws &draws) {
    return draws.seed == op.getSeed() && draws.stream == op.getStream() &&
           draws.index == op.getIndex();
  };
  SmallVector<Draws> none;
  Draws draws;
  if (auto *known = isShared ? llvm::find_if(level->draws, isSame) : none.end();
      isShared && known != level->draws.end()) {
    draws = *known;
  } else {
    size_t number = level - levels.begin(); // the address may change
    Value index = b.lane(emit(op.getIndex()), 0);
    draws = drawRound(op, b.sub(index, b.i64(copy * width)), copies * width, isShared);
    if (isShared)
      levels[number].draws.push_back(draws);
  }
  Type i32 = b.getI32Type(), lanes = lanesOf(i32, width);
  auto words = [&](int from) {
    return b.load(lanes, b.at(draws.words, b.i64(copy * width + from), i32), /*isInvariant=*/false);
  };
  if (op.getKind() == DrawKind::own)
    return words(0);
  Value numbers = b.add(b.fold<arith::TruncIOp>(i32, draws.parity),
                        b.fold<arith::TruncIOp>(lanes, b.iota(width)));
  Value isOdd = b.compare(CmpIPredicate::ne, b.fold<arith::AndIOp>(numbers, b.integer(lanes, 1)),
                          b.integer(lanes, 0));
  return op.getKind() == DrawKind::first ? b.select(isOdd, words(-1), words(0))
                                         : b.select(isOdd, words(0), words(1));
}
