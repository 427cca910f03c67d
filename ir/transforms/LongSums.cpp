//===- LongSums.cpp - sums that loops carry -------------------------------===//

#include "ir/transforms/LongSums.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

//===-- Where a sum goes --------------------------------------------------===//

namespace {
/// An op that a sum goes through: an addition, or a branch or loop with additions inside.
struct Link {
  unsigned result;
  /// That are made one after the other, or many.
  int64_t additions;
};

/// The way of a sum through a block.
struct Chain {
  /// The operand of the block's terminator that the sum reaches.
  unsigned end = 0;
  int64_t additions = 0;
};

/// Additions that are made one after the other in the type of a sum.
constexpr int64_t longestChain = 32;
/// So many that one more, or less, is all the same.
constexpr int64_t manyAdditions = 1 << 20;

class SumFinder {
public:
  explicit SumFinder(bool takesProducts) : takesProducts(takesProducts) {}

  /// None where anything else is done with the sum.
  std::optional<Chain> follow(Value sum, Block &block);
  /// That of a carried value; none of one that nothing is added to.
  std::optional<Chain> chainOf(Operation *loop, unsigned carried);

  /// Additions that were found.
  SmallVector<std::pair<Operation *, unsigned>> steps;

private:
  std::optional<Link> through(Operation *op, Value sum, unsigned operand);

  bool takesProducts;
};

/// What a loop carries, and where; none of other ops.
Block *bodyOf(Operation *loop, unsigned &firstInit, unsigned &firstArgument) {
  if (auto blocks = dyn_cast<ForOp>(loop)) {
    firstInit = 2;
    firstArgument = 1;
    return blocks.getMerge().empty() ? &blocks.getBody().front() : nullptr;
  }
  if (auto count = dyn_cast<scf::ForOp>(loop)) {
    firstInit = count.getNumControlOperands();
    firstArgument = count.getNumInductionVars();
    return count.getBody();
  }
  return nullptr;
}
} // namespace

static bool isFloatSum(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isF64();
}

bool tile::ir::isMatrixProduct(DotOp dot) {
  auto hasOwn = [](Value of, Value other) {
    return llvm::any_of(axesOf(of.getType()), [&](StringAttr axis) {
      return !llvm::is_contained(axesOf(other.getType()), axis);
    });
  };
  return hasOwn(dot.getLhs(), dot.getRhs()) && hasOwn(dot.getRhs(), dot.getLhs());
}

std::optional<int64_t> tile::ir::roundsOf(Operation *loop) {
  APInt lower, upper, step;
  int64_t size;
  if (auto blocks = dyn_cast<ForOp>(loop)) {
    if (!matchPattern(blocks.getLower(), m_ConstantInt(&lower)) ||
        !matchPattern(blocks.getUpper(), m_ConstantInt(&upper)))
      return {};
    size = blocks.getSize();
  } else {
    auto count = cast<scf::ForOp>(loop);
    if (!matchPattern(count.getLowerBound(), m_ConstantInt(&lower)) ||
        !matchPattern(count.getUpperBound(), m_ConstantInt(&upper)) ||
        !matchPattern(count.getStep(), m_ConstantInt(&step)))
      return {};
    size = step.getSExtValue();
  }
  // Signed 64-bit bounds are less than 2⁶⁴ apart.
  uint64_t length = upper.sgt(lower) ? upper.getZExtValue() - lower.getZExtValue() : 0;
  return size > 0 && length <= uint64_t(INT64_MAX)
             ? std::optional<int64_t>(llvm::divideCeil(length, size))
             : std::nullopt;
}

/// Whether a loop may be long, and has what it carries in few registers. A tile to which one
/// element after the other is added would be twice as large, for each of them; blocks add few
/// numbers to it.
static bool runsLong(Operation *loop, unsigned carried) {
  constexpr int64_t fewRounds = 16;
  std::optional<int64_t> rounds = roundsOf(loop);
  return (!rounds || *rounds > fewRounds) &&
         (isa<ForOp>(loop) || axesOf(loop->getResult(carried).getType()).empty());
}

std::optional<Link> SumFinder::through(Operation *op, Value sum, unsigned operand) {
  bool isSum = isa<arith::AddFOp>(op) || (isa<arith::SubFOp>(op) && operand == 0) ||
               (isa<math::FmaOp>(op) && operand == 2);
  if (auto dot = dyn_cast<DotOp>(op))
    isSum = dot.getAcc() == sum && (takesProducts || !isMatrixProduct(dot));
  if (isSum) {
    steps.emplace_back(op, operand);
    return Link{0, 1};
  }
  // The same elements, with their axes in another order.
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    if (axesOf(broadcast.getType()).size() == axesOf(sum.getType()).size())
      return Link{0, 0};
  unsigned firstInit, firstArgument;
  if (!bodyOf(op, firstInit, firstArgument) || operand < firstInit)
    return {};
  unsigned carried = operand - firstInit;
  std::optional<Chain> chain = chainOf(op, carried);
  if (!chain)
    return {};
  // What is long by itself begins with a chain.
  if (runsLong(op, carried))
    return Link{carried, longestChain};
  int64_t rounds = std::clamp<int64_t>(roundsOf(op).value_or(manyAdditions), 1, manyAdditions);
  return Link{carried, std::min(manyAdditions, rounds * chain->additions)};
}

std::optional<Chain> SumFinder::follow(Value sum, Block &block) {
  Chain chain;
  while (true) {
    // Several uses may only be those of a branch's two sides.
    Operation *user = nullptr;
    OpOperand *use = nullptr;
    for (OpOperand &next : sum.getUses()) {
      Operation *here = block.findAncestorOpInBlock(*next.getOwner());
      if (!here) // in the other branch
        continue;
      if (user && (user != here || !isa<scf::IfOp>(here)))
        return {};
      user = here;
      use = &next;
    }
    if (!user)
      return {};
    if (user == block.getTerminator()) {
      chain.end = use->getOperandNumber();
      return chain;
    }
    std::optional<Link> link;
    if (auto branch = dyn_cast<scf::IfOp>(user)) {
      if (use->getOwner() == user || branch.getElseRegion().empty())
        return {};
      auto then = follow(sum, *branch.thenBlock()), otherwise = follow(sum, *branch.elseBlock());
      if (!then || !otherwise || then->end != otherwise->end)
        return {};
      link = {then->end, std::max(then->additions, otherwise->additions)};
    } else if (use->getOwner() == user) {
      link = through(user, sum, use->getOperandNumber());
    }
    if (!link)
      return {};
    chain.additions = std::min(manyAdditions, chain.additions + link->additions);
    sum = user->getResult(link->result);
  }
}

std::optional<Chain> SumFinder::chainOf(Operation *loop, unsigned carried) {
  unsigned firstInit, firstArgument;
  Block *body = bodyOf(loop, firstInit, firstArgument);
  if (!body)
    return {};
  size_t known = steps.size();
  Value argument = body->getArgument(firstArgument + carried);
  std::optional<Chain> chain;
  if (isFloatSum(argument))
    chain = follow(argument, *body);
  if (!chain || chain->end != carried || steps.size() == known) {
    steps.truncate(known);
    return {};
  }
  return chain;
}

llvm::DenseMap<Operation *, unsigned> tile::ir::sumSteps(KernelOp kernel) {
  SumFinder finder(/*takesProducts=*/true);
  kernel.walk([&](Operation *op) {
    unsigned firstInit, firstArgument;
    if (bodyOf(op, firstInit, firstArgument))
      for (unsigned n = 0; n < op->getNumResults(); ++n)
        (void)finder.chainOf(op, n);
  });
  llvm::DenseMap<Operation *, unsigned> steps;
  for (auto [op, operand] : finder.steps)
    steps.try_emplace(op, operand);
  return steps;
}

//===-- Sums with more digits ---------------------------------------------===//

std::pair<Value, Value> tile::ir::addCompensated(OpBuilder &builder, Location loc, Value sum,
                                                 Value lost, Value term) {
  auto add = [&](Value x, Value y) -> Value { return arith::AddFOp::create(builder, loc, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubFOp::create(builder, loc, x, y); };
  Value total = add(sum, term), share = sub(total, sum);
  Value rounded = add(sub(sum, sub(total, share)), sub(term, share));
  return {total, add(lost, rounded)};
}

static Value constantLike(OpBuilder &builder, Location loc, Type type, double value) {
  bool isTile = isa<RankedTensorType>(type); // whose extents may be open
  TypedAttr attribute = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto lanes = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(lanes, Attribute(attribute));
  Value number = arith::ConstantOp::create(builder, loc, attribute);
  return isTile ? Value(BroadcastOp::create(builder, loc, type, number)) : number;
}

static Value zeroOf(OpBuilder &builder, Location loc, Type type) {
  return constantLike(builder, loc, type, 0);
}

Value tile::ir::compensatedTotal(OpBuilder &builder, Location loc, Value sum, Value lost) {
  // Of an infinite sum NaN is lost, and of −0 nothing.
  Value zero = zeroOf(builder, loc, lost.getType());
  Value isThere = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ONE, lost, zero);
  Value total = arith::AddFOp::create(builder, loc, sum, lost);
  return arith::SelectOp::create(builder, loc, isThere, total, sum);
}

std::pair<Value, Value> tile::ir::settleCompensated(OpBuilder &builder, Location loc, Value sum,
                                                    Value lost) {
  Value total = arith::AddFOp::create(builder, loc, sum, lost);
  Value taken = arith::SubFOp::create(builder, loc, total, sum);
  Value rest = arith::SubFOp::create(builder, loc, lost, taken);
  Value size = math::AbsFOp::create(builder, loc, total);
  Value infinity =
      constantLike(builder, loc, sum.getType(), std::numeric_limits<double>::infinity());
  Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, size, infinity);
  return {arith::SelectOp::create(builder, loc, isFinite, total, sum),
          arith::SelectOp::create(builder, loc, isFinite, rest, lost)};
}

bool tile::ir::isLongSum(Operation *loop, unsigned carried) {
  return roundsOfChain(loop, carried) > 0;
}

int64_t tile::ir::roundsOfChain(Operation *loop, unsigned carried) {
  unsigned firstInit, firstArgument;
  if (!bodyOf(loop, firstInit, firstArgument) || !runsLong(loop, carried))
    return 0;
  std::optional<Chain> chain = SumFinder(/*takesProducts=*/false).chainOf(loop, carried);
  if (!chain)
    return 0;
  int64_t most = std::max<int64_t>(1, longestChain / chain->additions);
  // Chains have about as many rounds each, where it is known how many there are in all: no short
  // chain is left at the end.
  std::optional<int64_t> rounds = roundsOf(loop);
  return rounds ? llvm::divideCeil(*rounds, llvm::divideCeil(*rounds, most)) : most;
}
