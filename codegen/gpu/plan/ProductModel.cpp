//===- ProductModel.cpp - how long a product takes, by its blocks ---------===//

#include "codegen/gpu/plan/ProductModel.h"
#include "codegen/gpu/dialect/Mma.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tile::codegen;
using namespace tile::codegen::gpu;

unsigned tile::codegen::gpu::multiplyingWarps(int64_t rows) { return rows <= mmaRows ? 4 : 8; }

/// Of a thread, for results; those of a turn are as many again.
static int64_t mostSums(const ProductBlock &block) { return block.isTwice ? 96 : 128; }

int64_t ProductBlock::heldRows() const {
  constexpr int64_t together = 8; // of a swizzle
  // Those that are missing the instruction reads from what follows: the other operand.
  bool isSafe = rows == mmaRows && columns >= mmaRows;
  return present > 0 && isSafe && computedFrom == 0
             ? std::min<int64_t>(rows, llvm::alignTo(present, together))
             : rows;
}

unsigned tile::codegen::gpu::blocksOfRows(const ProductBlock &block) {
  return block.rows * block.columns > multiplyingWarps(block.rows) * 32 * mostSums(block) ? 2 : 1;
}

std::string tile::codegen::gpu::refusalOf(const ProductBlock &block, int64_t bytes, bool rowsTurned,
                                          bool columnsTurned) {
  constexpr int64_t leastColumns = 16, mostOfBox = 256;
  int64_t panel = panelBytes / bytes, warps = multiplyingWarps(block.rows);
  int64_t blocks = blocksOfRows(block), threads = blocks * warps * 32;
  if (block.rows <= 0 || block.rows % (mmaRows * (warps / 4)) != 0 ||
      mmaColumns(block.columns) < leastColumns)
    return "a block of its result is not of 64 rows and of 16 columns";
  int64_t sums = block.rows * block.columns / threads;
  if (int64_t most = std::max({block.rows, block.columns, block.depth}); most > mostOfBox)
    return "bulk copies move blocks of at most " + std::to_string(mostOfBox) +
           " along an axis, not " + std::to_string(most);
  if (sums > mostSums(block) || (blocks > 1 && block.rows != warps * 16 * blocks))
    return "a block of its result of " + std::to_string(block.rows) + " × " +
           std::to_string(block.columns) + " is too large for registers";
  // Each block of a cluster ends with columns of its own.
  if (block.splits > 1 && block.splits <= mostSplits && llvm::isPowerOf2_64(block.splits) &&
      (blocks > 1 || mmaColumns(block.columns) != block.columns ||
       block.columns / block.splits < leastColumns))
    return "a block of its result has no power of two of columns, 16 for each of those that split "
           "the "
           "contraction";
  if (bytes != 2 && (rowsTurned || columnsTurned))
    return "elements that are not of two bytes are contracted along the rows that they have in "
           "memory, and others go across";
  auto isInPanels = [&](bool isTurned, int64_t width) {
    return (isTurned ? width : block.depth) % panel == 0;
  };
  if (block.depth * bytes % mmaDepthBytes != 0 || !isInPanels(rowsTurned, block.rows / blocks) ||
      !isInPanels(columnsTurned, block.columns))
    return "a row of an operand's block is not of 128 bytes";
  if (block.computedFrom > 0 && (block.splits > 1 || blocksOfRows(block) > 1))
    return "an operand is computed, and the CTAs of a cluster don't have each other's registers";
  return "";
}

/// Bytes of a slot: of both operands, each at a multiple of 1024.
static int64_t slotBytes(const ProductBlock &block, int64_t bytes) {
  constexpr int64_t alignment = 1024;
  auto sizeOf = [&](int64_t length) {
    return static_cast<int64_t>(llvm::alignTo(length * block.depth * bytes, alignment));
  };
  int64_t boxes = std::max<int64_t>(1, block.computedFrom);
  return boxes * sizeOf(block.heldRows() / blocksOfRows(block)) + sizeOf(block.columns);
}

int64_t tile::codegen::gpu::slotsOfTurn(const ProductBlock &block, int64_t bytes) {
  return std::max<int64_t>(1, 2 * panelBytes / (block.depth * bytes));
}

int64_t tile::codegen::gpu::leastSlots(const ProductBlock &block, int64_t bytes) {
  constexpr int64_t least = 2, sumBytes = 4;
  int64_t sums = block.splits > 1 ? block.rows * block.columns * sumBytes : 0;
  return std::max<int64_t>(least, llvm::divideCeil(sums, slotBytes(block, bytes)));
}

int64_t tile::codegen::gpu::slotsFor(const ProductBlock &block, int64_t bytes,
                                     const GpuTarget &target, int64_t more) {
  // Outboxes, barriers, and what alignment takes.
  int64_t forResults = multiplyingWarps(block.rows) * outboxesOfWarp * outboxBytes + 1024;
  constexpr int64_t mostSlots = 16;
  return std::min(mostSlots, (target.sharedBytes - forResults - more) / slotBytes(block, bytes));
}
