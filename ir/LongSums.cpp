//===- LongSums.cpp - sums that loops carry -------------------------------===//

#include "ir/LongSums.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

//===-- Where a sum goes --------------------------------------------------===//

namespace {
/// An op that a sum goes through: an addition, or a branch or loop with additions inside.
struct Link {
  Operation *op;
  unsigned operand; // that is the sum so far; of a branch none
  unsigned result;
};

struct Chain {
  /// In the block itself.
  SmallVector<Link> links;
  /// The operand of the block's terminator that the sum reaches.
  unsigned end;
};

class SumFinder {
public:
  explicit SumFinder(bool takesProducts) : takesProducts(takesProducts) {}

  /// The way of a sum through a block; none where anything else is done with it.
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

std::optional<Link> SumFinder::through(Operation *op, Value sum, unsigned operand) {
  bool isSum = isa<arith::AddFOp>(op) || (isa<arith::SubFOp>(op) && operand == 0) ||
               (isa<math::FmaOp>(op) && operand == 2);
  if (auto dot = dyn_cast<DotOp>(op))
    isSum = dot.getAcc() == sum && (takesProducts || !isMatrixProduct(dot));
  if (isSum) {
    steps.emplace_back(op, operand);
    return Link{op, operand, 0};
  }
  unsigned firstInit, firstArgument;
  if (!bodyOf(op, firstInit, firstArgument) || operand < firstInit)
    return {};
  unsigned carried = operand - firstInit;
  if (!chainOf(op, carried))
    return {};
  return Link{op, operand, carried};
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
      link = {user, 0, then->end};
    } else if (use->getOwner() == user) {
      link = through(user, sum, use->getOperandNumber());
    }
    if (!link)
      return {};
    chain.links.push_back(*link);
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
  Type element = isTile ? getElementTypeOrSelf(type) : type;
  Value number = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(element, value));
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

/// Cuts a link out of its chain: afterwards nothing uses the sum there. Returns what is added; an
/// addition that does nothing else is left for the caller to erase.
static Value cutOut(OpBuilder &builder, const Link &link, Value sum) {
  Operation *op = link.op;
  Location loc = op->getLoc();
  builder.setInsertionPoint(op);
  if (isa<arith::AddFOp>(op))
    return op->getOperand(1 - link.operand);
  if (isa<arith::SubFOp>(op))
    return arith::NegFOp::create(builder, loc, op->getOperand(1));
  if (isa<math::FmaOp>(op))
    return arith::MulFOp::create(builder, loc, op->getOperand(0), op->getOperand(1));
  Value zero = zeroOf(builder, loc, sum.getType());
  sum.replaceUsesWithIf(zero, [&](OpOperand &use) { return op->isAncestor(use.getOwner()); });
  return op->getResult(link.result);
}

/// The loop once more, with one more carried value that begins as zeros, which is what its body
/// yields until somebody says otherwise. The old one is gone.
static Operation *carryMore(OpBuilder &builder, Operation *old, Type type) {
  Location loc = old->getLoc();
  builder.setInsertionPoint(old);
  Value zero = zeroOf(builder, loc, type);
  Operation *loop;
  if (auto blocks = dyn_cast<ForOp>(old)) {
    SmallVector<Value> inits(blocks.getInits());
    inits.push_back(zero);
    auto copy = ForOp::create(builder, loc, TypeRange(ValueRange(inits)), blocks.getLower(),
                              blocks.getUpper(), inits, blocks.getNameAttr(), blocks.getSizeAttr(),
                              blocks.getKindAttr());
    copy.getBody().takeBody(blocks.getBody());
    loop = copy;
  } else {
    auto count = cast<scf::ForOp>(old);
    SmallVector<Value> inits(count.getInitArgs());
    inits.push_back(zero);
    auto copy = scf::ForOp::create(builder, loc, count.getLowerBound(), count.getUpperBound(),
                                   count.getStep(), inits);
    copy.getRegion().takeBody(count.getRegion());
    loop = copy;
  }
  loop->setAttrs(old->getAttrs());
  Block &body = loop->getRegion(0).front();
  Value argument = body.addArgument(type, loc);
  body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(), argument);
  for (auto [before, after] : llvm::zip(old->getResults(), loop->getResults()))
    before.replaceAllUsesWith(after);
  old->erase();
  return loop;
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

static bool isZero(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return matchPattern(broadcast ? broadcast.getInput() : value, m_AnyZeroFloat());
}

static Type f64Like(Type type) {
  Type wide = Float64Type::get(type.getContext());
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(RankedTensorType::get(tile.getShape(), wide, tile.getEncoding())) : wide;
}

/// Takes a carried sum apart: its loop adds nothing to it any more. Returns what is added in a
/// round.
static Value takeTerm(OpBuilder &builder, ArrayRef<Link> links, Value sum, unsigned carried) {
  Value term, before = sum;
  for (const Link &link : links) {
    Value part = cutOut(builder, link, before);
    builder.setInsertionPointAfter(link.op);
    term = term ? Value(arith::AddFOp::create(builder, link.op->getLoc(), term, part)) : part;
    before = link.op->getResult(link.result);
  }
  sum.getParentBlock()->getTerminator()->setOperand(carried, sum);
  for (const Link &link : llvm::reverse(links))
    if (isa<arith::AddFOp, arith::SubFOp, math::FmaOp>(link.op))
      link.op->erase();
  return term;
}

/// Afterwards a carried sum has more digits; the loop is another op, which is returned.
static Operation *compensate(Operation *loop, unsigned carried) {
  unsigned firstInit, firstArgument;
  Block *body = bodyOf(loop, firstInit, firstArgument);
  auto chain = SumFinder(/*takesProducts=*/false).chainOf(loop, carried);
  if (!chain)
    return loop;
  OpBuilder builder(loop);
  Location loc = loop->getLoc();
  Value sum = body->getArgument(firstArgument + carried);
  Type type = sum.getType(), wide = f64Like(type);
  Value term = takeTerm(builder, chain->links, sum, carried);
  loop = carryMore(builder, loop, wide);
  Operation *yield = body->getTerminator();
  unsigned last = yield->getNumOperands() - 1;
  builder.setInsertionPoint(yield);
  Value more = body->getArguments().back();
  if (type == wide) {
    auto [next, lost] = addCompensated(builder, loc, sum, more, term);
    yield->setOperand(carried, next);
    yield->setOperand(last, lost);
  } else {
    Value widened = arith::ExtFOp::create(builder, loc, wide, term);
    yield->setOperand(last, arith::AddFOp::create(builder, loc, more, widened));
  }
  // What the sum begins with is added in the end, so that a loop around this one sees an addition.
  Value result = loop->getResult(carried), begin = loop->getOperand(firstInit + carried);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : result.getUses())
    uses.push_back(&use);
  builder.setInsertionPointAfter(loop);
  Value added = loop->getResult(last);
  Value total = type == wide ? compensatedTotal(builder, loc, result, added)
                             : Value(arith::TruncFOp::create(builder, loc, type, added));
  if (!isZero(begin)) {
    total = arith::AddFOp::create(builder, loc, begin, total);
    builder.setInsertionPoint(loop);
    loop->setOperand(firstInit + carried, zeroOf(builder, loc, type));
  }
  for (OpOperand *use : uses)
    use->set(total);
  return loop;
}

bool tile::ir::isLongSum(Operation *loop, unsigned carried) {
  constexpr int64_t fewRounds = 16;
  unsigned firstInit, firstArgument;
  if (!bodyOf(loop, firstInit, firstArgument))
    return false;
  std::optional<int64_t> rounds = roundsOf(loop);
  if (rounds && *rounds <= fewRounds)
    return false;
  // A tile to which one element after the other is added would be twice as large, for each of
  // them; blocks add few numbers to it.
  return (isa<ForOp>(loop) || axesOf(loop->getResult(carried).getType()).empty()) &&
         SumFinder(/*takesProducts=*/false).chainOf(loop, carried);
}

void tile::ir::compensateSums(KernelOp kernel) {
  SmallVector<Operation *> loops; // inner ones first
  kernel.walk([&](Operation *op) {
    unsigned firstInit, firstArgument;
    if (bodyOf(op, firstInit, firstArgument))
      loops.push_back(op);
  });
  for (Operation *loop : loops)
    for (unsigned n = 0, count = loop->getNumResults(); n < count; ++n)
      if (isLongSum(loop, n))
        loop = compensate(loop, n);
}
