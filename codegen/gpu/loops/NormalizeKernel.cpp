//===- NormalizeKernel.cpp - one spelling for what has several ------------===//

#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/MergeLoops.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/loops/VectorDots.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

void tile::codegen::gpu::sinkBehindProducts(KernelOp kernel) {
  llvm::SetVector<Operation *> loops;
  kernel.walk([&](DotOp dot) {
    if (auto loop = dyn_cast<ForOp>(dot->getParentOp());
        loop && isa<ParallelOp>(loop->getParentOp()))
      loops.insert(loop);
  });
  for (Operation *loop : loops) {
    Block *block = loop->getBlock();
    for (Operation *op = loop->getPrevNode(); op;) {
      Operation *before = op->getPrevNode();
      bool isForLater = llvm::all_of(op->getUsers(), [&](Operation *user) {
        return loop->isBeforeInBlock(block->findAncestorOpInBlock(*user));
      });
      if (isForLater && isMovable(op, loop, kernel))
        op->moveAfter(loop);
      op = before;
    }
  }
}

/// Has loops that contract begin after the numbers that are the same in all of their turns.
static void hoistNumbers(KernelOp kernel) {
  kernel.walk([](DotOp dot) {
    auto loop = dyn_cast<ForOp>(dot->getParentOp());
    if (!loop)
      return;
    for (Operation &op : llvm::make_early_inc_range(loop.getBody().front())) {
      bool isInvariant = op.getNumResults() == 1 && isRepeatable(op.getResult(0)) &&
                         llvm::none_of(op.getOperands(), [&](Value operand) {
                           return loop.getBody().isAncestor(operand.getParentRegion());
                         });
      if (isInvariant)
        op.moveBefore(loop);
    }
  });
}

/// Has loops with several contractions, as attention, read in each turn what one of them takes in
/// all. It comes from a cache then; fragments that wait for their turns would take registers of all
/// threads: attention of f32 with 64 elements a head took 142 µs with queries that are held, 115
/// without; of bf16 with 128 up to 2 % longer (H200). Others read their operands a turn ahead.
static void sinkOperands(KernelOp kernel) {
  if (kernel->hasAttr(watchedAttrName)) // accesses are noted in their order
    return;
  auto hasSeveral = [](ForOp loop) {
    return llvm::count_if(loop.getBody().getOps<DotOp>(),
                          [](DotOp dot) { return !dot.getAcc().getDefiningOp<DotOp>(); }) > 1;
  };
  SmallVector<std::pair<LoadOp, ForOp>> sinking;
  kernel.walk([&](LoadOp load) {
    auto dot = load->hasOneUse() ? dyn_cast<DotOp>(*load->user_begin()) : DotOp();
    auto loop = dot ? dyn_cast<ForOp>(dot->getParentOp()) : ForOp();
    if (loop && load->use_begin()->getOperandNumber() < 2 && hasSeveral(loop) &&
        load->getBlock() == loop->getBlock() && isMovable(load, loop, kernel))
      sinking.emplace_back(load, loop);
  });
  for (auto [load, loop] : sinking)
    load->moveBefore(&loop.getBody().front().front());
}

void tile::codegen::gpu::normalizeKernel(KernelOp kernel) {
  foldCounts(kernel);
  sumVectorDots(kernel);
  joinReductions(kernel);
  if (!kernel->hasAttr(fixedOrderAttrName))
    loopContractions(kernel);
  mergeLoops(kernel);
  sinkBehindProducts(kernel);
  narrowDots(kernel);
  hoistNumbers(kernel);
  sinkOperands(kernel);
}
