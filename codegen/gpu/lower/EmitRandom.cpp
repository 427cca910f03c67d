//===- EmitRandom.cpp - random bits, a block for four neighbours ----------===//
//
// A block of Philox has the bits of four draws. A thread that holds all four
// computes it once. Lanes that hold one or two each compute one block each, for
// different places, and send each other words: in the accumulator of a contraction
// a pair of lanes shares four columns, so one computes the block of a row, the
// other that of another row, and each sends the half that it doesn't need.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"
#include "codegen/gpu/lower/ElementwiseEmitter.h"

#include <map>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// The draws of one op, in the registers that are made now.
struct ElementwiseEmitter::Draws {
  PhiloxOp op;
  DrawKind kind;
  const Layout &layout;
  Values &made;      // by register
  unsigned axis = 0; // along which neighbours draw neighbouring numbers

  unsigned positionOf(int64_t reg) const { return layout.ofRegister(reg)[axis] & 3; }
};

static bool movesElements(Operation *op) { return isa<ConvertOp>(op); }

CodeBuilder::Value ElementwiseEmitter::drawOperand(const Draws &draws, unsigned number,
                                                   int64_t reg) {
  Value operand = draws.op->getOperand(number);
  return isTile(operand) ? ctx.tiles[operand].registers[reg] : ctx.scalar(operand);
}

std::array<Value, 4> ElementwiseEmitter::blockOf(const Draws &draws, ArrayRef<int64_t> registers,
                                                 ArrayRef<Value> which, int64_t ahead) {
  // Of several registers the one that the conditions number.
  SmallVector<Value> chosen;
  for (unsigned operand = 0; operand < 3; ++operand) {
    Values each = llvm::map_to_vector(
        registers, [&](int64_t reg) { return drawOperand(draws, operand, reg); });
    chosen.push_back(selectNumber(each, which));
  }
  Value index = ahead ? b.add(chosen[2], b.i64(ahead)) : chosen[2];
  return emitPhiloxBlock(b, chosen[0], chosen[1], b.fold<arith::ShRUIOp>(index, b.i64(2)));
}

Value ElementwiseEmitter::selectNumber(ArrayRef<Value> values, ArrayRef<Value> bits) {
  if (llvm::all_equal(values))
    return values[0];
  size_t half = values.size() / 2;
  Value low = selectNumber(values.take_front(half), bits.drop_back()),
        high = selectNumber(values.drop_front(half), bits.drop_back());
  return b.select(bits.back(), high, low);
}

/// Registers whose draws are of one block, by block.
static SmallVector<SmallVector<int64_t>> groupByBlock(const Layout &layout, unsigned axis,
                                                      ArrayRef<int64_t> registers) {
  SmallVector<SmallVector<int64_t>> groups;
  std::map<std::vector<int64_t>, size_t> numbers;
  for (int64_t reg : registers) {
    Layout::Coords place = layout.ofRegister(reg);
    place[axis] &= ~int64_t(3);
    auto [found, isNew] =
        numbers.try_emplace(std::vector<int64_t>(place.begin(), place.end()), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(reg);
  }
  return groups;
}

/// Bits of the lane's number that move by one or two along the axis, and nowhere else.
static SmallVector<unsigned> sharingBits(const Layout &layout, unsigned axis) {
  SmallVector<unsigned> bits;
  for (auto [bit, step] : llvm::enumerate(layout.bases(Part::Lane))) {
    bool isAlone = llvm::count_if(step, [](int64_t by) { return by != 0; }) == 1;
    if (isAlone && (step[axis] == 1 || step[axis] == 2))
      bits.push_back(static_cast<unsigned>(bit));
  }
  return bits;
}

void ElementwiseEmitter::drawAligned(const Draws &draws, ArrayRef<int64_t> registers) {
  int64_t threadBits = 0;
  for (Part part : {Part::Lane, Part::Warp, Part::Block})
    for (const Layout::Coords &step : draws.layout.bases(part))
      threadBits |= step[draws.axis];
  auto flips = [&](int64_t bit) -> Value {
    if (!(threadBits & bit))
      return {};
    Type i32 = b.getI32Type();
    Value place = ctx.places.threadPlace(draws.layout, draws.axis);
    return b.compare(CmpIPredicate::ne, b.fold<arith::AndIOp>(place, b.integer(i32, bit)),
                     b.integer(i32, 0));
  };
  Value low = flips(1), high = flips(2);
  auto pick = [&](ArrayRef<Value> words, unsigned position) {
    return pickWord(b, words, draws.kind, position, low, high);
  };
  auto groups = groupByBlock(draws.layout, draws.axis, registers);
  SmallVector<unsigned> bits = sharingBits(draws.layout, draws.axis);
  size_t lanes = size_t(1) << bits.size();
  auto positions = [&](ArrayRef<int64_t> group) {
    return llvm::map_to_vector(group, [&](int64_t reg) { return draws.positionOf(reg); });
  };
  ArrayRef<SmallVector<int64_t>> open = groups;
  while (!open.empty()) {
    ArrayRef<SmallVector<int64_t>> together = open.take_front(std::min(lanes, open.size()));
    bool isAlike = llvm::all_of(together, [&](ArrayRef<int64_t> group) {
      return positions(group) == positions(together[0]);
    });
    if (lanes > 1 && together.size() == lanes && isAlike) {
      drawTogether(draws, together, bits, pick);
      open = open.drop_front(lanes);
      continue;
    }
    auto words = blockOf(draws, open[0][0], {}, 0);
    for (int64_t reg : open[0])
      draws.made[reg] = pick(words, draws.positionOf(reg));
    open = open.drop_front();
  }
}

/// As many groups as lanes share a block: lane s of them computes the block of group s.
void ElementwiseEmitter::drawTogether(const Draws &draws, ArrayRef<SmallVector<int64_t>> groups,
                                      ArrayRef<unsigned> bits,
                                      llvm::function_ref<Value(ArrayRef<Value>, unsigned)> pick) {
  Type i32 = b.getI32Type();
  SmallVector<Value> isSet = llvm::map_to_vector(bits, [&](unsigned bit) {
    Value masked = b.fold<arith::AndIOp>(ctx.lane, b.integer(i32, int64_t(1) << bit));
    return b.compare(CmpIPredicate::ne, masked, b.integer(i32, 0));
  });
  auto first = llvm::map_to_vector(groups, [](ArrayRef<int64_t> group) { return group[0]; });
  auto words = blockOf(draws, first, isSet, 0);
  bool isPair = draws.kind != DrawKind::own;
  // What the lane gets whose number differs by `m` of them from this one's: a word a register.
  SmallVector<Values> got;
  for (size_t m = 0; m < groups.size(); ++m) {
    unsigned laneMask = 0, moved = 0;
    for (auto [n, bit] : llvm::enumerate(bits))
      if (m >> n & 1) {
        laneMask |= 1u << bit;
        moved ^= static_cast<unsigned>(draws.layout.bases(Part::Lane)[bit][draws.axis]);
      }
    Values &words_ = got.emplace_back();
    std::map<unsigned, Value> sent;
    for (int64_t reg : groups[0]) {
      unsigned position = draws.positionOf(reg) ^ moved;
      Value &word = sent[isPair ? position & 2 : position];
      if (!word) {
        word = pick(words, position);
        if (laneMask)
          word = ctx.exchange.shuffleXor(word, laneMask);
      }
      words_.push_back(word);
    }
  }
  for (size_t group = 0; group < groups.size(); ++group)
    for (auto [n, reg] : llvm::enumerate(groups[group])) {
      Values bySender;
      for (size_t self = 0; self < groups.size(); ++self)
        bySender.push_back(got[self ^ group][n]);
      draws.made[reg] = selectNumber(bySender, isSet);
    }
}

/// Neighbours that begin anywhere in a block: one block more, and each word is one of four.
void ElementwiseEmitter::drawRun(const Draws &draws, int64_t first, int64_t count) {
  SmallVector<Value> words;
  for (int64_t ahead = 0; ahead <= count; ahead += 4)
    llvm::append_range(words, blockOf(draws, first, {}, ahead));
  Value index = drawOperand(draws, 2, first);
  auto isSet = [&](int64_t bit) {
    return b.compare(CmpIPredicate::ne, b.fold<arith::AndIOp>(index, b.i64(bit)), b.i64(0));
  };
  Value isOdd = isSet(1), isSecondHalf = isSet(2);
  auto at = [&](int64_t place) { return b.select(isSecondHalf, words[place + 2], words[place]); };
  DrawKind kind = draws.kind;
  for (int64_t n = 0; n < count; ++n) {
    auto wordOf = [&](int64_t place) {
      return kind == DrawKind::own ? place : (place & ~int64_t(1)) + (kind == DrawKind::second);
    };
    draws.made[first + n] = b.select(isOdd, at(wordOf(n + 1)), at(wordOf(n)));
  }
}

void ElementwiseEmitter::emitPhiloxOp(PhiloxOp op) {
  Value result = op.getResult();
  if (!isTile(result)) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return ctx.scalar(operand); });
    ctx.scalars[result] = emitElementwise(b, ctx.target, op, operands);
    return;
  }
  Axes axes = axesOf(result.getType());
  Layout layout = layoutOf(result.getType());
  Values made = ctx.tiles.lookup(result).registers; // of other slices
  made.resize(layout.numRegisters());
  SmallVector<int64_t> open;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    if (ctx.isInSlice(axes, layout, reg))
      open.push_back(reg);
  Draws draws{op, op.getKind(), layout, made};
  SmallVector<Value> rest;
  for (; draws.axis < axes.size(); ++draws.axis, rest.clear())
    if (drawsAlong(op, axes[draws.axis], movesElements, rest))
      break;
  bool isKnown = draws.axis < axes.size();
  bool isAligned = isKnown && ctx.divisors.ofOrigin(axes[draws.axis]) % 4 == 0 &&
                   llvm::all_of(rest, [&](Value term) { return ctx.divisors.of(term) % 4 == 0; });
  if (isAligned) {
    drawAligned(draws, open);
    open.clear();
  }
  int64_t run =
      isKnown && Places::isAdditive(layout, draws.axis) ? layout.contiguity(draws.axis) : 1;
  for (ArrayRef<int64_t> next = open; !next.empty();) {
    int64_t first = next[0], count = std::min<int64_t>(run, 8);
    bool isWhole = count >= 4 && first % count == 0 && static_cast<int64_t>(next.size()) >= count &&
                   next[count - 1] == first + count - 1;
    if (isWhole) {
      drawRun(draws, first, count);
    } else {
      count = 1;
      SmallVector<Value> operands = llvm::map_to_vector(
          llvm::seq<unsigned>(0, 3), [&](unsigned n) { return drawOperand(draws, n, first); });
      made[first] = emitElementwise(b, ctx.target, op, operands);
    }
    next = next.drop_front(count);
  }
  ctx.tiles[result] = {SmallVector<StringAttr>(axes), layout, std::move(made)};
}
