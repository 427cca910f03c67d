//===- MergeLoops.cpp - loops over the same blocks become one -------------===//

#include "codegen/gpu/loops/MergeLoops.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/loops/ChooseWarps.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "ir/fusion/UniteAxes.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

/// What loops carry, in registers of 32 bits.
static int64_t registersOf(TypeRange types) {
  int64_t registers = 0;
  for (Type type : types)
    if (auto tile = dyn_cast<RankedTensorType>(type)) {
      int64_t all = std::max(1u, tile.getElementType().getIntOrFloatBitWidth() / 32);
      for (int64_t extent : tile.getShape())
        all = productOf(all, extent);
      registers = std::min(registers + all, unboundedElements);
    }
  return registers;
}

/// A loop that contracts, and does nothing that others could notice.
static bool contracts(ForOp loop, KernelOp kernel) {
  bool hasDot = false;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    hasDot |= isa<DotOp>(op);
    if (op.getNumRegions() > 0 || !isMovable(&op, loop, kernel))
      return false;
  }
  return hasDot && loop.getKind() == LoopKind::fold;
}

static bool goThroughTheSame(ForOp first, ForOp second) {
  auto isSame = [](Value x, Value y) {
    return x == y || (traceDims(x) && traceDims(x) == traceDims(y));
  };
  return isSame(first.getLower(), second.getLower()) &&
         isSame(first.getUpper(), second.getUpper()) && first.getSize() == second.getSize() &&
         first.getKind() == second.getKind() &&
         first->getDiscardableAttrDictionary() == second->getDiscardableAttrDictionary();
}

/// What has to stand before the first loop for the second one to stand there, in order; none where
/// something of that hangs on the first one, or can't be moved.
static std::optional<SmallVector<Operation *>> neededBefore(ForOp first, ForOp second) {
  KernelOp kernel = first->getParentOfType<KernelOp>();
  Block *block = first->getBlock();
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> open{second};
  while (!open.empty()) {
    bool isFree = true;
    auto visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      op = op ? block->findAncestorOpInBlock(*op) : nullptr;
      if (!op || op == second || op->isBeforeInBlock(first))
        return;
      isFree &= op != first && op->getNumRegions() == 0 && isMovable(op, first, kernel);
      if (isFree && needed.insert(op))
        open.push_back(op);
    };
    Operation *op = open.pop_back_val();
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
    if (!isFree)
      return std::nullopt;
  }
  SmallVector<Operation *> ordered = needed.takeVector();
  llvm::sort(ordered, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return ordered;
}

/// Whether all of a loop is one turn, as far as is known: tile sizes that no schedule gives are cut
/// to the lengths of short axes, while blocks of longer ones have rows of 128 bytes and more.
static bool isShort(ForOp loop) {
  constexpr int64_t usualBytes = 128;
  APInt lower, upper;
  if (matchPattern(loop.getLower(), m_ConstantInt(&lower)) &&
      matchPattern(loop.getUpper(), m_ConstantInt(&upper)))
    return upper.getSExtValue() - lower.getSExtValue() <= static_cast<int64_t>(loop.getSize());
  KernelOp kernel = loop->getParentOfType<KernelOp>();
  if (!scheduledSizes(kernel, loop.getNameAttr(), "cuda").empty())
    return false;
  int64_t bytes = 1;
  for (auto dot : loop.getBody().getOps<DotOp>()) {
    Type element = getElementTypeOrSelf(dot.getLhs().getType());
    bytes = std::max<int64_t>(bytes, element.getIntOrFloatBitWidth() / 8);
  }
  return static_cast<int64_t>(loop.getSize()) * bytes < usualBytes;
}

/// Whether contractions stand between two loops: their order would change, by which others know
/// them (KernelShape.h).
static bool contractsBetween(ForOp first, ForOp second) {
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return true;
  return false;
}

/// Loops of many turns hide more apart, where operands are read a turn ahead: two products of four
/// rows and 4096 terms took 2.4 times as long as one loop (bf16, H200), while two of 16 terms took
/// 0.75 to 0.95 of the time. With more registers there is room for fewer programs, which hides
/// less, too: four products of four rows took a graph from 71 to 82 µs.
static bool canMerge(ForOp first, ForOp second, unsigned warps) {
  constexpr int64_t mostOfThread = 16;
  return first->isBeforeInBlock(second) && isShort(first) && isShort(second) &&
         goThroughTheSame(first, second) && !contractsBetween(first, second) &&
         registersOf(first->getResultTypes()) + registersOf(second->getResultTypes()) <=
             mostOfThread * 32 * int64_t(warps);
}

static void merge(ForOp first, ForOp second, ArrayRef<Operation *> needed) {
  for (Operation *op : needed)
    op->moveBefore(first);
  KernelOp kernel = first->getParentOfType<KernelOp>();
  if (first.getNameAttr() != second.getNameAttr())
    renameAxis(kernel, second.getNameAttr(), first.getNameAttr());
  IRRewriter builder(first);
  SmallVector<Value> inits(first.getInits());
  llvm::append_range(inits, second.getInits());
  SmallVector<Type> types(first->getResultTypes());
  llvm::append_range(types, second->getResultTypes());
  auto loop =
      ForOp::create(builder, first.getLoc(), TypeRange(types), first.getLower(), first.getUpper(),
                    inits, first.getNameAttr(), first.getSizeAttr(), first.getKindAttr());
  loop->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  Block &body = loop.getBody().emplaceBlock();
  body.addArgument(first.getSpan().getType(), first.getLoc());
  for (auto [type, init] : llvm::zip(types, inits))
    body.addArgument(type, init.getLoc());
  SmallVector<Value> yielded;
  size_t begin = 1;
  for (ForOp part : {first, second}) {
    size_t count = part->getNumResults();
    SmallVector<Value> arguments{body.getArgument(0)};
    llvm::append_range(arguments, body.getArguments().slice(begin, count));
    YieldOp yield = part.getYield();
    builder.inlineBlockBefore(&part.getBody().front(), &body, body.end(), arguments);
    llvm::append_range(yielded, yield.getOperands());
    builder.eraseOp(yield);
    builder.replaceOp(part, loop->getResults().slice(begin - 1, count));
    begin += count;
  }
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, loop.getLoc(), yielded);
}

static bool mergeAny(KernelOp kernel) {
  SmallVector<ForOp> loops;
  kernel.walk([&](ForOp loop) {
    if (contracts(loop, kernel))
      loops.push_back(loop);
  });
  if (loops.size() < 2)
    return false;
  unsigned warps = chooseWarps(kernel);
  for (auto [n, second] : llvm::enumerate(loops))
    for (ForOp first : ArrayRef(loops).take_front(n))
      if (first->getBlock() == second->getBlock() && canMerge(first, second, warps))
        if (auto needed = neededBefore(first, second)) {
          merge(first, second, *needed);
          return true;
        }
  return false;
}

void tile::codegen::gpu::mergeLoops(KernelOp kernel) {
  // What follows an assertion comes after it, a sanitizer notes accesses in their order, and masks
  // are known behind the conditions that restrict their axes.
  bool isOrdered = speaks(kernel) || kernel->hasAttr(watchedAttrName);
  kernel.walk([&](RestrictOp) { isOrdered = true; });
  if (isOrdered)
    return;
  bool isChanged = false;
  while (mergeAny(kernel))
    isChanged = true;
  if (!isChanged)
    return;
  IRRewriter rewriter(kernel->getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}
