//===- LongSums.cpp - sums that loops carry -------------------------------===//

#include "ir/LongSums.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
  /// The way of a sum through a block; none where anything else is done with it.
  std::optional<Chain> follow(Value sum, Block &block);
  /// That of a carried value; none of one that nothing is added to.
  std::optional<Chain> chainOf(Operation *loop, unsigned carried);

  /// Additions that were found.
  SmallVector<std::pair<Operation *, unsigned>> steps;

private:
  std::optional<Link> through(Operation *op, Value sum, unsigned operand);
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

std::optional<Link> SumFinder::through(Operation *op, Value sum, unsigned operand) {
  bool isSum = isa<arith::AddFOp>(op) || (isa<arith::SubFOp>(op) && operand == 0) ||
               (isa<math::FmaOp>(op) && operand == 2);
  if (auto dot = dyn_cast<DotOp>(op))
    isSum = dot.getAcc() == sum;
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
  SumFinder finder;
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
