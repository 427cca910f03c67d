//===- ProductModel.cpp - how long a product takes, by its blocks ---------===//

#include "codegen/gpu/plan/ProductModel.h"
#include "codegen/gpu/dialect/Mma.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

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

/// Bytes from and to memory in a cycle, of all multiprocessors. Measured on an H200
/// (docs/performance.md), which is the usual target's device; others have as much as their memory
/// and clock are faster.
static double memoryBytesOfCycle(const GpuTarget &target) {
  constexpr double measured = 2440;
  const GpuTarget &usual = GpuTarget::of(usualGpuTarget);
  if (target.memoryBandwidth <= 0 || target.clock <= 0)
    return measured;
  return measured * (target.memoryBandwidth / usual.memoryBandwidth) / (target.clock / usual.clock);
}

double tile::codegen::gpu::cyclesOf(const ProductExtents &extents, const ProductBlock &block,
                                    const GpuTarget &target) {
  // Of a multiprocessor and clock: multiply-adds of 16 bits; bytes through shared memory, at most,
  // and from the second-level cache. Measured on an H200 (docs/performance.md).
  constexpr double perCycle = 2048, sharedBytes = 142, cacheBytes = 72;
  const double memoryBytes = memoryBytesOfCycle(target);
  // Before the first product of a launch, and of one of clusters; at the end of a program, and for
  // each copy of a row's results there (EmitSend.cpp: as many columns as a power of two divides);
  // around each step of two groups of warps, and the least of one group's, of rows of 128 bytes;
  // from asking for a slot to having it, from the cache and from memory. Where sums of a turn are
  // added to others: until the last of them is there, and for each slot between; sums that are
  // added in a cycle; how much longer a step is where nobody multiplies meanwhile.
  constexpr double start = 3300, startOfClusters = 900, end = 300, leaving = 300, around = 45,
                   leastOfOne = 330, latency = 3000, fromMemory = 6000, drain = 200, between = 100,
                   added = 128, alone = 1.35;
  // Until the blocks of a cluster know of each other's sums; bytes that one reads of the others' in
  // a cycle; bytes that all get from the cache in a cycle, where neighbours ask for different ones;
  // multiprocessors for each that clusters of more than two have room on.
  constexpr double meeting = 1500, exchanged = 20, apartBytes = 5000, perClustered = 1.1;
  auto count = [](int64_t extent, int64_t size) {
    return static_cast<double>(llvm::divideCeil(std::max<int64_t>(extent, 1), size));
  };
  auto asDouble = [](int64_t value) { return static_cast<double>(value); };
  // Of each block of threads.
  unsigned blocks = blocksOfRows(block);
  double rows = asDouble(block.rows) / blocks, columns = asDouble(block.columns),
         depth = asDouble(block.depth), bytes = asDouble(extents.bytes);
  double multiply = rows * columns * depth / (perCycle * 2 / bytes);
  // Each instruction reads 64 rows and its columns; copies write each operand once.
  double boxes = asDouble(std::max<int64_t>(1, block.computedFrom));
  double operands = rows / mmaRows * (mmaRows * boxes + columns) * depth * bytes;
  double written = (rows * boxes + columns) * depth * bytes;
  double fetched = (rows * boxes + columns / blocks) * depth * bytes;
  bool isOneGroup = multiplyingWarps(block.rows) == 4;
  double slots = asDouble(std::max<int64_t>(2, slotsFor(block, extents.bytes, target)));
  double step = std::max({multiply, (operands + written) / sharedBytes, fetched / cacheBytes,
                          latency / std::pow(slots - 1, 1.5)});
  double groups = isOneGroup ? 1 : 2, repeats = rows / (mmaRows * groups);
  if (block.isTwice) {
    double ofTurn = asDouble(slotsOfTurn(block, extents.bytes));
    step = step * (isOneGroup ? alone : 1) +
           (drain + between * (ofTurn - 1) + rows * columns / added / groups) / ofTurn;
  }
  step = isOneGroup ? std::max(step, leastOfOne * depth * bytes / panelBytes) : step + around;
  double programs = count(extents.rows, block.rows) * count(extents.columns, block.columns) *
                    asDouble(extents.matrices);
  double multiprocessors = asDouble(target.multiprocessors);
  if (block.splits > 1) {
    if (block.splits > 2)
      multiprocessors = std::floor(multiprocessors / perClustered);
    programs *= asDouble(block.splits);
    step = std::max(step, fetched * std::min(programs, multiprocessors) / apartBytes);
  }
  double rounds = std::ceil(programs * blocks / multiprocessors);
  constexpr int64_t mostOfCopy = 64;
  double copies =
      repeats * columns / asDouble(std::min(mostOfCopy, block.columns & -block.columns));
  double program = step * std::ceil(count(extents.depth, block.depth) / asDouble(block.splits)) +
                   end + leaving * copies;
  if (block.splits > 1)
    program += meeting + startOfClusters +
               rows * columns * 4 * (1 - 1 / asDouble(block.splits)) / exchanged;
  // Memory: everything once, as fast as slots are asked for; programs that follow each other are in
  // each other's way, and no part hides all of another.
  double moved = (asDouble(extents.rows + extents.columns) * asDouble(extents.depth) +
                  asDouble(extents.rows) * asDouble(extents.columns)) *
                 bytes * asDouble(extents.matrices);
  constexpr double crowding = 0.08, unhidden = 0.1, longRow = 256, gain = 1.03;
  double busy = std::min(programs * blocks, multiprocessors);
  double inFlight = (slots - 1) * depth * bytes *
                    (std::min(rows, asDouble(extents.rows)) +
                     std::min(columns, asDouble(extents.columns)) / blocks);
  double rate =
      std::min(memoryBytes, busy * inFlight / fromMemory) * (depth * bytes >= longRow ? gain : 1);
  double memory = moved / rate * (1 + crowding * (rounds - 1)), work = rounds * program;
  return start + 2 * fetched / cacheBytes + (blocks > 1 ? startOfClusters : 0) +
         std::max(work, memory) + unhidden * std::min(work, memory);
}
