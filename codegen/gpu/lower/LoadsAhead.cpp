//===- LoadsAhead.cpp - a block is read while the one before is multiplied ---===//
//
// In a loop that multiplies, each turn waits for memory, then for its instructions. So
// operands of a turn are read in the turn before, into registers that the loop carries:
// they arrive while that turn multiplies.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/lower/ControlEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Whether a value is used by nothing but contractions, and what is made of each element first.
static bool feedsDots(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<DotOp>(user))
      return true;
    bool passes = isa<ConvertOp>(user) || user->hasTrait<OpTrait::Elementwise>();
    return passes && user->getNumResults() == 1 && feedsDots(user->getResult(0));
  });
}

bool ControlEmitter::isReadAhead(LoadOp load) {
  auto op = cast<ForOp>(load->getParentOp());
  auto isThere = [&](Value operand) {
    return operand == op.getSpan() || !op.getBody().isAncestor(operand.getParentRegion());
  };
  // What restricts its axes says where it is masked.
  auto isMaskThere = [&](RestrictOp restrict) {
    return llvm::all_of(restrict->getOperands(), isThere);
  };
  return !load->hasAttr(keepAttrName) && !load->hasAttr(keptAttrName) &&
         ctx.tensors.lookup(load.getSource()).isInvariant &&
         llvm::all_of(load->getOperands(), isThere) &&
         llvm::all_of(ctx.domains.restrictsOn(axesOf(load.getType())), isMaskThere);
}

SmallVector<LoadOp> ControlEmitter::loadsAhead(ForOp op) {
  // Beside the sums, for fragments and addresses.
  constexpr int64_t mostAhead = 48, ofTurn = 72;
  if (ctx.watches || ctx.kernel.isGrid())
    return {};
  SmallVector<LoadOp> loads;
  unsigned numSums = 0; // of contractions that don't add to each other's
  for (Operation &inner : op.getBody().front()) {
    if (inner.getNumRegions() > 0)
      return {};
    if (auto dot = dyn_cast<DotOp>(inner)) {
      if (!warpDotOf(dot))
        return {};
      numSums += !dot.getAcc().getDefiningOp<DotOp>();
    }
    auto load = dyn_cast<LoadOp>(inner);
    if (!load || axesOf(load.getType()).empty() || !feedsDots(load.getResult()))
      continue;
    if (isReadAhead(load) && !ctx.waiting.contains(load))
      loads.push_back(load);
  }
  // Several contractions, as attention has them, need their registers for themselves.
  if (numSums != 1)
    return {};
  bindBlock(op, ctx.scalar(op.getLower()));
  int64_t registers = 0;
  for (LoadOp load : loads)
    registers += ctx.memory.registersOf(load);
  int64_t left = registersOfThread(ctx.kernel) - wordsOf(op.getInits()) - ofTurn;
  return registers <= std::min(mostAhead, left) ? loads : SmallVector<LoadOp>();
}

/// Elements of one vector that a load gave stay together: taken apart they would be waited for.
static Values packVectors(CodeBuilder &b, ValueRange elements,
                          SmallVectorImpl<VectorType> &vectors) {
  Values packed;
  vectors.clear();
  for (size_t n = 0; n < elements.size();) {
    auto first = elements[n].getDefiningOp<LLVM::ExtractElementOp>();
    auto type = first ? dyn_cast<VectorType>(first.getVector().getType()) : VectorType();
    size_t count = type ? static_cast<size_t>(type.getNumElements()) : 1;
    bool isWhole =
        type && n + count <= elements.size() && type.getElementTypeBitWidth() * count % 32 == 0;
    for (size_t k = 0; isWhole && k < count; ++k) {
      auto part = elements[n + k].getDefiningOp<LLVM::ExtractElementOp>();
      APInt at;
      isWhole = part && part.getVector() == first.getVector() &&
                matchPattern(part.getPosition(), m_ConstantInt(&at)) && at == k;
    }
    if (!isWhole) {
      vectors.push_back({});
      packed.push_back(elements[n++]);
      continue;
    }
    int64_t words = type.getElementTypeBitWidth() * type.getNumElements() / 32;
    Value all =
        LLVM::BitcastOp::create(b, VectorType::get(words, b.getI32Type()), first.getVector());
    for (int64_t word = 0; word < words; ++word)
      packed.push_back(LLVM::ExtractElementOp::create(b, all, b.i64(word)));
    vectors.push_back(type);
    n += count;
  }
  return packed;
}

static Values unpackVectors(CodeBuilder &b, ValueRange packed, ArrayRef<VectorType> vectors) {
  Values elements;
  for (VectorType type : vectors) {
    if (!type) {
      elements.push_back(packed.front());
      packed = packed.drop_front();
      continue;
    }
    int64_t words = type.getElementTypeBitWidth() * type.getNumElements() / 32;
    Value all = LLVM::PoisonOp::create(b, VectorType::get(words, b.getI32Type()));
    for (int64_t word = 0; word < words; ++word)
      all = LLVM::InsertElementOp::create(b, all, packed[word], b.i64(word));
    Value vector = LLVM::BitcastOp::create(b, type, all);
    for (int64_t n = 0; n < type.getNumElements(); ++n)
      elements.push_back(LLVM::ExtractElementOp::create(b, vector, b.i64(n)));
    packed = packed.drop_front(words);
  }
  return elements;
}

Values ControlEmitter::fetchAhead(AheadLoads &ahead, ForOp op, Value origin) {
  Value upper = ctx.scalar(op.getUpper());
  bindBlock(op, origin);
  SmallVector<Type> types;
  return b.branch(
      b.compare(arith::CmpIPredicate::slt, origin, upper),
      [&] {
        Values elements;
        for (LoadOp load : ahead.loads) {
          ctx.emitOp(load);
          llvm::append_range(elements, ctx.tile(load.getResult()).registers);
        }
        Values packed = packVectors(b, elements, ahead.vectors);
        llvm::append_range(types, ValueRange(packed).getTypes());
        return packed;
      },
      [&] {
        Values nothing;
        for (Type type : types)
          nothing.push_back(LLVM::PoisonOp::create(b, type));
        return nothing;
      });
}

void ControlEmitter::bindAhead(const AheadLoads &ahead, ValueRange packed) {
  Values elements = unpackVectors(b, packed, ahead.vectors);
  ctx.bind(llvm::map_to_vector(ahead.loads, [](LoadOp load) { return Value(load.getResult()); }),
           elements);
}
