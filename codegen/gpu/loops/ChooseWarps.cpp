//===- ChooseWarps.cpp - how many warps a program has ---------------------===//

#include "codegen/gpu/loops/ChooseWarps.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "ir/builder/Schedule.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

static bool isTile(Value value) { return !axesOf(value.getType()).empty(); }

/// With those beyond the ends that layouts cover, which take registers and masks as well: a warp's
/// access has 128 elements of a long axis, and short ones fill up a power of two.
static int64_t coveredElements(Type tile) {
  constexpr uint64_t access = 128;
  int64_t covered = 1;
  for (int64_t extent : cast<RankedTensorType>(tile).getShape()) {
    auto length = static_cast<uint64_t>(std::max<int64_t>(1, extent));
    covered *=
        static_cast<int64_t>(llvm::alignTo(length, std::min(access, llvm::bit_ceil(length))));
  }
  return covered;
}

namespace {
/// What plain threads multiply in blocks: contractions that no instruction of warps can make.
struct PlainProducts {
  unsigned count = 0;
  /// Whether they are all that is contracted, in one loop, and none waits for another one.
  bool areBeside = true;
  int64_t sums = 0;
};
} // namespace

static PlainProducts plainProducts(KernelOp kernel) {
  PlainProducts result;
  Block *loop = nullptr;
  unsigned all = 0;
  kernel.walk([&](DotOp dot) {
    ++all;
    result.areBeside &=
        (!loop || loop == dot->getBlock()) && !isOfDot(dot.getLhs()) && !isOfDot(dot.getRhs());
    loop = dot->getBlock();
    auto tile = dyn_cast<RankedTensorType>(dot.getType());
    bool isBlock = tile && axesOf(tile).size() > 1 && tile.hasStaticShape();
    if (!isBlock || warpMmaOf(dot) || hasWholeRows(dot))
      return;
    ++result.count;
    if (!dot.getAcc().getDefiningOp<DotOp>()) // else they are another one's
      result.sums += coveredElements(tile);
  });
  result.areBeside &= result.count == all;
  return result;
}

unsigned tile::codegen::gpu::chooseWarps(KernelOp kernel) {
  constexpr int64_t elementsPerThread = 16, usual = 8;
  if (int64_t given = numberOf(kernel, "warps"))
    return static_cast<unsigned>(given);
  PlainProducts products = plainProducts(kernel);
  // The sums of several that wait for each other have to share a thread's registers.
  bool multiplies = products.count == 1 || (products.count > 1 && products.areBeside);
  int64_t most = multiplies ? products.sums : 1;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isTile(result) && cast<RankedTensorType>(result.getType()).hasStaticShape())
        most = std::max(most, coveredElements(result.getType()));
  });
  if (unsigned warps = warpsForDots(kernel)) {
    constexpr int64_t mostOfThread = 64;
    while (warps < mostWarps && most / (32 * int64_t(warps)) > mostOfThread)
      warps *= 2;
    return warps;
  }
  // A thread that multiplies reads the less for it the more sums it has.
  int64_t perThread = multiplies ? 2 * elementsPerThread : elementsPerThread;
  auto busy = static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, most / (32 * perThread)))));
  // More only where a thread would hold more than 64 elements, or 128 sums.
  int64_t limit = products.count == 1 ? usual / 2 : usual;
  while (limit < mostWarps && most / (32 * limit) > 4 * perThread)
    limit *= 2;
  return static_cast<unsigned>(std::min(busy, limit));
}
