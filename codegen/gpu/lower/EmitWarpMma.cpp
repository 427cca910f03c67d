//===- EmitWarpMma.cpp - contractions by one warp's matrix instructions ---===//
//
// `mma.sync` takes both operands from registers. An operand that is not held as the
// instruction has it goes through shared memory: rows that are neighbours there are
// fetched by `ldmatrix`, 8 × 16 bytes at a time, and turned on the way where they go
// along the result. Rows begin at odd multiples of 16 bytes from each other, so that
// eight of them are in different banks.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/DotEmitter.h"
#include "codegen/gpu/lower/InlineAsm.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

//===-- Elements ----------------------------------------------------------===//

/// A register's element, as bits that the instruction takes; f64 as it is.
static Value toMultiplied(CodeBuilder &b, const TargetInfo &target, Value value, Type from,
                          Type to) {
  if (from != to) {
    auto narrow = cast<FloatType>(from);
    value = widenToF32(b, target, value, narrow);
    if (!to.isF32())
      return roundFromF32(b, target, value, cast<FloatType>(to));
  }
  return to.isF32() ? b.bitcast(value, b.getI32Type()) : value;
}

/// Elements of a register of 32 bits.
static Value packWord(CodeBuilder &b, ValueRange elements) {
  if (elements.size() == 1)
    return elements[0];
  Value vector = LLVM::PoisonOp::create(
      b, VectorType::get(static_cast<int64_t>(elements.size()), elements[0].getType()));
  for (auto [n, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(b, vector, element, b.i64(static_cast<int64_t>(n)));
  return LLVM::BitcastOp::create(b, b.getI32Type(), vector);
}

/// The element of a register of the source, as the instruction takes it. Where it is needed: all
/// of them at once, converted, would take room beside the sums.
Value DotEmitter::numberOf(const DotFragments &operand, int64_t reg) {
  Value number = operand.numbers[reg];
  if (!operand.mask.empty()) {
    Type type = number.getType();
    Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
    number = b.select(operand.mask[reg], number, zero);
  }
  return toMultiplied(b, ctx.target, number, operand.element, operand.multiplied);
}

//===-- Shared memory -----------------------------------------------------===//

void DotEmitter::storeFragments(const DotFragments &operand) {
  Type element = operand.type;
  const Layout &layout = operand.source->layout;
  int64_t count = operand.neighbours();
  for (int64_t r = 0, all = layout.numRegisters(); r < all; r += count) {
    Index place = ctx.places.linearPlace(layout, r, operand.strides);
    Value address = ctx.shared.at(operand.base, place.base, element, place.constant);
    if (count == 1) {
      ctx.shared.store(numberOf(operand, r), address);
      continue;
    }
    Value vector = LLVM::PoisonOp::create(b, VectorType::get(count, element));
    for (int64_t n = 0; n < count; ++n)
      vector = LLVM::InsertElementOp::create(b, vector, numberOf(operand, r + n), b.i64(n));
    LLVM::StoreOp::create(b, vector, address,
                          static_cast<unsigned>(count * operand.elementBytes()));
  }
}

/// What the instruction contracts beyond the source's registers is zero.
void DotEmitter::clearFragments(const DotFragments &operand) {
  constexpr int64_t access = 16;
  Type i32 = b.getI32Type(), piece = VectorType::get(4, i32);
  Value zero = b.integer(piece, 0);
  int64_t pieces = llvm::divideCeil(operand.bytes, access), threads = int64_t(ctx.warps) * 32;
  for (int64_t first = 0; first < pieces; first += threads) {
    Value number = b.minS(b.add(ctx.thread, b.integer(i32, first)), b.integer(i32, pieces - 1));
    LLVM::StoreOp::create(b, zero, ctx.shared.at(operand.base, number, piece), access);
  }
}

/// The register of this number, and neighbours that the same instruction fetches.
Value DotEmitter::wordOf(DotFragments &operand, int64_t reg) {
  int64_t first = reg / operand.unit() * operand.unit(), n = (reg - first) / operand.perWord;
  Values &words = operand.words[first];
  if (!words.empty())
    return words[n];
  Type i32 = b.getI32Type();
  if (operand.isStaged && operand.hasMatrices()) {
    Layout rows = operand.rowsOfMatrices();
    // A unit's first register has none of the steps that lanes make here.
    Index place = ctx.places.linearPlace(rows, 0, operand.strides);
    for (auto [step, stride] : llvm::zip(operand.layout.ofRegister(first), operand.strides))
      place.constant += step * stride;
    Type element = operand.type;
    Value address = ctx.shared.at(operand.base, place.base, element, place.constant);
    int64_t count = operand.unit() / operand.perWord;
    std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                       (operand.isTurned() ? ".trans.b16" : ".b16");
    Type all = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, i32));
    Value fetched =
        LLVM::CallIntrinsicOp::create(b, all, b.getStringAttr(name), ValueRange{address})
            .getResult(0);
    for (int64_t word = 0; word < count; ++word)
      words.push_back(LLVM::ExtractValueOp::create(b, fetched, word));
    return words[n];
  }
  Values elements;
  for (int64_t r = first; r < first + operand.perWord; ++r) {
    if (!operand.isStaged) {
      elements.push_back(
          numberOf(operand, *operand.source->layout.registerAt(operand.layout.ofRegister(r))));
      continue;
    }
    Type element = operand.type;
    Index place = ctx.places.linearPlace(operand.layout, r, operand.strides);
    elements.push_back(
        ctx.shared.load(element, ctx.shared.at(operand.base, place.base, element, place.constant)));
  }
  words.push_back(packWord(b, elements));
  return words[n];
}

//===-- Products ----------------------------------------------------------===//

/// One instruction: the sums that it gives.
static Values emitWarpMma(CodeBuilder &b, const WarpMma &mma, ValueRange left, ValueRange right,
                          ValueRange sums) {
  auto list = [](size_t first, size_t count) {
    std::string text;
    for (size_t n = first; n < first + count; ++n)
      text += (n == first ? "$" : ", $") + std::to_string(n);
    return "{" + text + "}";
  };
  size_t count = sums.size();
  std::string text = ("mma.sync.aligned." + mma.shape + ".row.col." + mma.sums + "." +
                      mma.operands + "." + mma.operands + "." + mma.sums + " ")
                         .str();
  text += list(0, count) + ", " + list(count, left.size()) + ", " +
          list(count + left.size(), right.size()) + ", " +
          list(count + left.size() + right.size(), count) + ";";
  auto letter = [](Type type) { return type.isF64() ? "d" : type.isF32() ? "f" : "r"; };
  std::string constraints;
  for (Value sum : sums)
    constraints += std::string(constraints.empty() ? "=" : ",=") + letter(sum.getType());
  Values operands(left);
  llvm::append_range(operands, right);
  llvm::append_range(operands, sums);
  for (Value operand : operands)
    constraints += std::string(",") + letter(operand.getType());
  Type all = LLVM::LLVMStructType::getLiteral(b.getContext(), llvm::to_vector(sums.getTypes()));
  Value made = inlineAsm(b, all, operands, text, constraints, /*hasSideEffects=*/false);
  Values result;
  for (size_t n = 0; n < count; ++n)
    result.push_back(LLVM::ExtractValueOp::create(b, made, static_cast<int64_t>(n)));
  return result;
}

/// Adds all products to the sums, which the axes are those of.
Values DotEmitter::multiplyFragments(DotFragments &rows, DotFragments &columns, const WarpMma &mma,
                                     Axes axes, const Layout &sums, Values acc) {
  auto firstOf = [&](const DotFragments &operand, const Layout::Coords &place, int64_t depth) {
    Layout::Coords own;
    for (auto [n, axis] : llvm::enumerate(operand.source->axes))
      own.push_back(n == operand.along ? depth : place[llvm::find(axes, axis) - axes.begin()]);
    return *operand.layout.registerAt(own);
  };
  auto wordsOf = [&](DotFragments &operand, int64_t first, int64_t count) {
    Values words;
    for (int64_t n = 0; n < count; ++n)
      words.push_back(wordOf(operand, first + n * operand.perWord));
    return words;
  };
  int64_t ofSums = mma.rows / 4, ofDepth = mma.depth / (4 * mma.perRegister);
  for (int64_t depth = 0; depth < rows.layout.extent(rows.along); depth += mma.depth)
    for (int64_t r = 0; r < sums.numRegisters(); r += ofSums) {
      Layout::Coords place = sums.ofRegister(r);
      Values left = wordsOf(rows, firstOf(rows, place, depth), mma.rows / 8 * ofDepth);
      Values right = wordsOf(columns, firstOf(columns, place, depth), ofDepth);
      Values next = emitWarpMma(b, mma, left, right, ValueRange(acc).slice(r, ofSums));
      llvm::copy(next, acc.begin() + r);
    }
  return acc;
}

/// Whether a thread has a number among these that is none: Inf or NaN.
Value DotEmitter::hasNonFinite(const DotFragments &operand) {
  auto type = dyn_cast<FloatType>(operand.multiplied);
  if (!type)
    return b.i1(false);
  unsigned bits = type.getWidth(), mantissa = type.getFPMantissaWidth() - 1;
  Type word = b.getIntegerType(bits);
  uint64_t exponent = ((uint64_t(1) << (bits - 1)) - 1) >> mantissa << mantissa;
  Value most = b.integer(word, 0);
  for (int64_t r = 0, count = operand.source->layout.numRegisters(); r < count; ++r) {
    Value magnitude = b.fold<arith::AndIOp>(b.bitcast(numberOf(operand, r), word),
                                            b.integer(word, static_cast<int64_t>(exponent)));
    most = b.fold<arith::MaxUIOp>(most, magnitude);
  }
  return b.compare(arith::CmpIPredicate::eq, most, b.integer(word, static_cast<int64_t>(exponent)));
}

bool DotEmitter::emitWarpDot(DotOp op, MutableArrayRef<DotOperand> operands) {
  std::optional<WarpDot> how = warpDotOf(op);
  if (!how)
    return false;
  Layout sums = layoutOf(op.getType());
  SmallVector<DotFragments, 2> fragments;
  int64_t bytes = 0, least = 0; // with an instruction's rows or columns
  for (auto [n, operand] : llvm::enumerate(operands)) {
    std::optional<Layout> layout = operandLayout(*how, op, n, sums);
    if (!layout) {
      ctx.plainDots.push_back({op,
                               "blocks of these sizes can't be shared out among warps for their "
                               "instructions; others may, above all powers of two"});
      return false;
    }
    DotFragments &made =
        fragments.emplace_back(ctx.operands.fragmentsOf(operand, how->mma, *layout));
    if (!made.isStaged)
      continue;
    if (operand.copied.slot) {
      made.layOut(operand.copied.staged->start);
      continue;
    }
    made.layOut(bytes);
    bytes = static_cast<int64_t>(llvm::alignTo(made.start + made.bytes, 16));
    least += made.bytes * (n == how->isSwapped ? how->mma.rows : 8) /
             std::max(made.layout.extent(made.own), made.source->layout.extent(made.own));
  }
  if (bytes > mostSharedOfOp) {
    std::string reason =
        ("its operands take " + Twine(bytes) + " bytes of shared memory at a time, and there are " +
         Twine(mostSharedOfOp) +
         (least <= mostSharedOfOp ? ": smaller blocks, or shorter ones of `" + op.getAxis() + "`,"
                                  : ": shorter blocks of `" + op.getAxis() + "`") +
         " have room")
            .str();
    ctx.plainDots.push_back({op, std::move(reason), bytes, least});
    return false;
  }
  bool isStaged = bytes > 0;
  Value base = isStaged ? ctx.shared.take(bytes) : Value();
  for (auto [operand, made] : llvm::zip(operands, fragments))
    if (made.isStaged)
      made.base = ctx.shared.at(operand.copied.slot ? operand.copied.slot : base, Value(),
                                b.getI8Type(), made.start);
  auto multiply = [&]() -> Values {
    if (isStaged)
      ctx.barriers.meet();
    if (llvm::any_of(fragments, [](DotFragments &made) { return made.needsClearing(); })) {
      for (DotFragments &made : fragments)
        if (made.needsClearing())
          clearFragments(made);
      ctx.barriers.meet();
    }
    for (auto [operand, made] : llvm::zip(operands, fragments))
      if (made.isStaged && !operand.copied.slot)
        storeFragments(made);
    if (isStaged)
      ctx.barriers.meet();
    return multiplyFragments(fragments[how->isSwapped], fragments[!how->isSwapped], how->mma,
                             axesOf(op.getType()), sums, ctx.flatten(op.getAcc()));
  };
  // What a condition leaves out is zero here, and contributes nothing but where the other factor is
  // no number.
  Value suspect;
  for (size_t n : {0, 1}) {
    if (!operands[n].hasMask)
      continue;
    if (operands[1 - n].copied.slot)
      fragments[1 - n].numbers = ctx.operands.readStaged(operands[1 - n].copied);
    suspect = b.either(suspect ? suspect : b.i1(false), hasNonFinite(fragments[1 - n]));
  }
  if (!suspect || !isa<FloatType>(how->mma.element))
    ctx.bind(op.getResult(), multiply());
  else
    ctx.bind(op.getResult(), b.branch(
                                 ctx.exchange.anyThread(suspect),
                                 [&] { return multiplyByThreads(op, operands); }, multiply));
  return true;
}
