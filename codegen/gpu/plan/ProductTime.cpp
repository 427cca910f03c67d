//===- ProductTime.cpp - the cycles of a product --------------------------===//

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/plan/ProductModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace tile::codegen;
using namespace tile::codegen::gpu;

llvm::ArrayRef<ProductCostField> tile::codegen::gpu::productCostFields() {
  static constexpr ProductCostField fields[] = {
      {"multiplyAdds", &ProductCosts::multiplyAdds},
      {"sharedBytes", &ProductCosts::sharedBytes},
      {"cacheBytes", &ProductCosts::cacheBytes},
      {"memoryBytes", &ProductCosts::memoryBytes},
      {"start", &ProductCosts::start},
      {"startOfClusters", &ProductCosts::startOfClusters},
      {"end", &ProductCosts::end},
      {"leaving", &ProductCosts::leaving},
      {"around", &ProductCosts::around},
      {"leastOfOne", &ProductCosts::leastOfOne},
      {"latency", &ProductCosts::latency},
      {"fromMemory", &ProductCosts::fromMemory},
      {"drain", &ProductCosts::drain},
      {"between", &ProductCosts::between},
      {"added", &ProductCosts::added},
      {"alone", &ProductCosts::alone},
      {"meeting", &ProductCosts::meeting},
      {"exchanged", &ProductCosts::exchanged},
      {"apartBytes", &ProductCosts::apartBytes},
      {"perClustered", &ProductCosts::perClustered},
      {"crowding", &ProductCosts::crowding},
      {"unhidden", &ProductCosts::unhidden},
      {"longRow", &ProductCosts::longRow},
      {"gain", &ProductCosts::gain},
  };
  static_assert(std::size(fields) * sizeof(double) == sizeof(ProductCosts));
  return fields;
}

namespace {
double asDouble(int64_t value) { return static_cast<double>(value); }

double count(int64_t extent, int64_t size) {
  return static_cast<double>(llvm::divideCeil(std::max<int64_t>(extent, 1), size));
}

/// One launch.
class Launch {
public:
  Launch(const ProductExtents &extents, const ProductBlock &block, const GpuTarget &target,
         const ProductCosts &costs);
  double cycles() const;

private:
  /// Bytes of a multiprocessor from the cache in a step.
  double fetched() const { return (rows * boxes + columns / blocks) * depth * bytes; }
  double step() const;
  double program() const;
  double memory(double rounds) const;

  const ProductExtents &extents;
  const ProductBlock &block;
  const GpuTarget &target;
  const ProductCosts &costs;
  /// CTAs of a program for its rows; each has so much of it.
  unsigned blocks;
  double rows, columns, depth, bytes, boxes, slots;
  /// How many programs there are, with those that split what is contracted, and what they run on.
  double programs, multiprocessors;
  bool isOneGroup;
};
} // namespace

Launch::Launch(const ProductExtents &extents, const ProductBlock &block, const GpuTarget &target,
               const ProductCosts &costs)
    : extents(extents), block(block), target(target), costs(costs), blocks(blocksOfRows(block)),
      rows(asDouble(block.rows) / blocks), columns(asDouble(block.columns)),
      depth(asDouble(block.depth)), bytes(asDouble(extents.bytes)),
      boxes(asDouble(std::max<int64_t>(1, block.computedFrom))),
      slots(asDouble(std::max<int64_t>(2, slotsFor(block, extents.bytes, target)))),
      programs(count(extents.rows, block.rows) * count(extents.columns, block.columns) *
               asDouble(extents.matrices)),
      multiprocessors(asDouble(target.multiprocessors)),
      isOneGroup(multiplyingWarps(block.rows) == 4) {
  if (block.splits > 2)
    multiprocessors = std::floor(multiprocessors / costs.perClustered);
  if (block.splits > 1)
    programs *= asDouble(block.splits);
}

double Launch::step() const {
  double multiply = rows * columns * depth / (costs.multiplyAdds * 2 / bytes);
  // Each instruction reads 64 rows and its columns; copies write each operand once.
  double operands = rows / mmaRows * (mmaRows * boxes + columns) * depth * bytes;
  double written = (rows * boxes + columns) * depth * bytes;
  double step = std::max({multiply, (operands + written) / costs.sharedBytes,
                          fetched() / costs.cacheBytes, costs.latency / std::pow(slots - 1, 1.5)});
  if (block.isTwice) {
    double ofTurn = asDouble(slotsOfTurn(block, extents.bytes)), groups = isOneGroup ? 1 : 2;
    step = step * (isOneGroup ? costs.alone : 1) +
           (costs.drain + costs.between * (ofTurn - 1) + rows * columns / costs.added / groups) /
               ofTurn;
  }
  step = isOneGroup ? std::max(step, costs.leastOfOne * depth * bytes / panelBytes)
                    : step + costs.around;
  if (block.splits > 1)
    step = std::max(step, fetched() * std::min(programs, multiprocessors) / costs.apartBytes);
  return step;
}

double Launch::program() const {
  constexpr int64_t mostOfCopy = 64;
  double groups = isOneGroup ? 1 : 2, repeats = rows / (mmaRows * groups);
  double copies =
      repeats * columns / asDouble(std::min(mostOfCopy, block.columns & -block.columns));
  double program = step() * std::ceil(count(extents.depth, block.depth) / asDouble(block.splits)) +
                   costs.end + costs.leaving * copies;
  if (block.splits > 1)
    program += costs.meeting + costs.startOfClusters +
               rows * columns * 4 * (1 - 1 / asDouble(block.splits)) / costs.exchanged;
  return program;
}

/// Everything once, as fast as slots are asked for; programs that follow each other are in each
/// other's way.
double Launch::memory(double rounds) const {
  // Devices have as much as their memory and clock are faster than the usual target's.
  double most = costs.memoryBytes;
  const GpuTarget &usual = GpuTarget::of(usualGpuTarget);
  if (target.memoryBandwidth > 0 && target.clock > 0)
    most = most * (target.memoryBandwidth / usual.memoryBandwidth) / (target.clock / usual.clock);
  double moved = (asDouble(extents.rows + extents.columns) * asDouble(extents.depth) +
                  asDouble(extents.rows) * asDouble(extents.columns)) *
                 bytes * asDouble(extents.matrices);
  double busy = std::min(programs * blocks, multiprocessors);
  double inFlight = (slots - 1) * depth * bytes *
                    (std::min(rows, asDouble(extents.rows)) +
                     std::min(columns, asDouble(extents.columns)) / blocks);
  double rate = std::min(most, busy * inFlight / costs.fromMemory) *
                (depth * bytes >= costs.longRow ? costs.gain : 1);
  return moved / rate * (1 + costs.crowding * (rounds - 1));
}

double Launch::cycles() const {
  double rounds = std::ceil(programs * blocks / multiprocessors);
  double ofMemory = memory(rounds), work = rounds * program();
  return costs.start + 2 * fetched() / costs.cacheBytes + (blocks > 1 ? costs.startOfClusters : 0) +
         std::max(work, ofMemory) + costs.unhidden * std::min(work, ofMemory);
}

double tile::codegen::gpu::cyclesOf(const ProductExtents &extents, const ProductBlock &block,
                                    const GpuTarget &target, const ProductCosts &costs) {
  return Launch(extents, block, target, costs).cycles();
}
