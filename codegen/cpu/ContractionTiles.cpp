//===- ContractionTiles.cpp - tile sizes of kernels with products ---------===//

#include "codegen/cpu/TileChooser.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// How often a loop's body runs. Where conditions compare its axis with another one, as in causal
/// attention, that is a triangle, and the blocks that its long side crosses are done as a whole.
double TileChooser::blocksOf(ForOp loop) {
  auto extent = static_cast<double>(axes[loop.getNameAttr()].extent);
  double size = length(loop.getNameAttr()), all = std::ceil(extent / size), least = all;
  for (RestrictOp restrict : domains.restrictsOf(loop))
    for (Value dim : restrict.getDims()) {
      if (dim == loop.getSpan())
        continue;
      double triangle = std::min(all, (extent + length(axisOf(dim)) + size) / (2 * size));
      // Only a launch tells whether it applies.
      least = std::min(least, restrict.getUnless() ? (triangle + all) / 2 : triangle);
    }
  return least;
}

/// What a contraction's whole result takes more where it doesn't stay in the first-level cache: it
/// is stored from there, and reductions go over it, of which something is made then.
double TileChooser::cyclesOfReading(const Contraction &dot, double vectors, double bytes) {
  constexpr double ofLevel2 = 5, ofMuch = 20; // cycles of a vector, and with all of that cache
  if (bytes <= 0.75 * static_cast<double>(machine.level1Bytes))
    return 0;
  auto isResult = [&](ArrayRef<StringAttr> names) {
    auto hasAll = [&](ArrayRef<StringAttr> axes) {
      return llvm::all_of(axes, [&](StringAttr axis) { return llvm::is_contained(names, axis); });
    };
    return names.size() == dot.rows.size() + dot.columns.size() && hasAll(dot.rows) &&
           hasAll(dot.columns);
  };
  double times = 0;
  for (const Reduction &reduction : reductions) {
    if (!isResult(reduction.axes))
      continue;
    double blocks = 1;
    for (ForOp loop : reduction.loops)
      blocks *= blocksOf(loop);
    times += blocks;
  }
  double share = std::min(1.0, bytes / static_cast<double>(machine.level2Bytes));
  double ofStore = llvm::any_of(stored, isResult) ? ofLevel2 : 0;
  return vectors * (ofStore + times * (ofLevel2 + ofMuch * share));
}

/// Cycles of a program: the multiply-adds of full register tiles, the packing of what they read,
/// and the result once for each block of depth.
TileChooser::DotCycles TileChooser::cyclesOf(const Contraction &dot) {
  auto product = [&](ArrayRef<StringAttr> names) {
    double result = 1;
    for (StringAttr name : names)
      result *= length(name);
    return result;
  };
  auto roundUp = [](double x, double step) { return std::ceil(x / step) * step; };
  const auto level2Bytes = static_cast<double>(machine.level2Bytes);
  double rows = product(dot.rows), columns = product(dot.columns), depth = length(dot.depth);
  double block = std::min(depth, 256.0), times = 1, lanes = 64 / dot.bytes;
  for (ForOp loop : dot.loops)
    times *= blocksOf(loop);
  double result = dot.bytes * rows * columns;
  // For few rows the other operand isn't packed, and no register tile shares what is read of it.
  constexpr double fewRows = 24;
  bool isFew = rows <= fewRows;
  double packed = isFew ? rows : rows + columns;
  double vectorsOfRows = isFew ? 2 * rows : roundUp(rows, 4);
  // A result that is far from the core is prefetched, but not for nothing.
  double perBlock = (3.2 + 6.4 * result / level2Bytes) / lanes;
  // More rows than a core knows pages of are looked up anew in each block of depth.
  constexpr double pageBytes = 4096, knownPages = 64, lookUpCycles = 30;
  auto isFar = [&](double bytes) {
    double rowBytes = bytes * static_cast<double>(axes[dot.depth].extent);
    return rows * std::min(1.0, rowBytes / pageBytes) > knownPages;
  };
  double lookUps = static_cast<double>(llvm::count_if(dot.inBlocks, isFar)) * rows;
  return {.multiply = times * depth * vectorsOfRows * roundUp(columns, lanes) / (2 * lanes),
          .move = times * depth * (12.8 / lanes * packed + perBlock * rows * columns / block) +
                  times * lookUps * lookUpCycles +
                  cyclesOfReading(dot, rows * columns / lanes, result),
          .bytes = 0.75 * result + dot.bytes * block * packed,
          .sum = times * depth * rows * columns / lanes};
}

/// Without rows or columns it is a sum of products, which reads two vectors for each.
double TileChooser::cyclesOfContractions() {
  double cycles = 0;
  for (const Contraction &dot : dots) {
    DotCycles own = cyclesOf(dot);
    bool isSum = dot.rows.empty() || dot.columns.empty();
    cycles += isSum ? own.sum : own.multiply + own.move;
  }
  return cycles;
}

/// Cycles until all cores are done; more where what a program works on exceeds the second-level
/// cache.
double TileChooser::costOfContractions() {
  double compute = 0, memory = 0, bytes = 0;
  for (const Contraction &dot : dots) {
    DotCycles own = cyclesOf(dot);
    compute += own.multiply;
    memory += own.move;
    bytes += own.bytes;
  }
  for (const Arithmetic &op : arithmetic) {
    if (op.cost == 1)
      continue; // as good as part of packing
    double elements = 1;
    for (StringAttr name : op.axes)
      elements *= length(name);
    for (ForOp loop : op.loops)
      elements *= blocksOf(loop);
    constexpr double vectorLanes = 16;
    compute += elements * op.cost / vectorLanes;
  }
  double excess = std::max(1.0, bytes / (0.8 * static_cast<double>(machine.level2Bytes)));
  double program = compute * std::sqrt(excess) + memory * excess + 500;
  return std::ceil(programs() / machine.threads) * program;
}

void TileChooser::chooseForContractions() {
  static constexpr int64_t rowSizes[] = {4, 12, 24, 48, 96, 120, 144, 192, 240, 288, 384, 504, 696};
  static constexpr int64_t columnSizes[] = {16, 32, 64, 128, 192, 256, 384, 512, 1024};
  static constexpr int64_t depthSizes[] = {64, 128, 256};
  SmallVector<AxisInfo *> open;
  for (auto &[name, axis] : axes) {
    if (!axis.isSizable)
      continue;
    if (axis.candidates.empty()) {
      bool isBoth = axis.isDepth && (axis.isColumn || axis.isRow);
      ArrayRef<int64_t> sizes = axis.isDepth    ? (isBoth ? ArrayRef(columnSizes) : depthSizes)
                                : axis.isColumn ? ArrayRef(columnSizes)
                                                : ArrayRef(rowSizes);
      for (int64_t size : sizes)
        if (axis.candidates.empty() || size < 2 * axis.extent)
          axis.candidates.push_back(size);
      // And equal parts of it, so that no core waits for another's last program.
      int64_t step = axis.isColumn ? 32 : 4;
      for (int64_t parts = 1; parts <= 8 && axis.isProgram; ++parts) {
        int64_t part = (axis.extent + parts - 1) / parts;
        int64_t size = (part + step - 1) / step * step;
        if (size >= sizes.front() && size <= sizes.back())
          axis.candidates.push_back(size);
      }
    }
    open.push_back(&axis);
  }
  // Where the way down ends depends on where it starts: long and narrow programs look better than
  // others that are a little less so.
  double best = std::numeric_limits<double>::infinity();
  SmallVector<int64_t> sizes;
  for (double start : {1.0, 128.0, 1024.0}) {
    for (AxisInfo *axis : open)
      take(*axis, start);
    double cost = descend(open);
    if (cost >= best)
      continue;
    best = cost;
    sizes.clear();
    for (AxisInfo *axis : open)
      sizes.push_back(axis->size);
  }
  for (auto [axis, size] : llvm::zip(open, sizes))
    axis->size = size;
}

/// Changes one size after the other, until none gets better.
double TileChooser::descend(ArrayRef<AxisInfo *> open) {
  double best = costOfContractions();
  for (bool improves = true; improves;) {
    improves = false;
    for (AxisInfo *axis : open) {
      int64_t kept = axis->size;
      for (int64_t size : axis->candidates) {
        axis->size = size;
        if (double cost = costOfContractions(); cost < best) {
          best = cost;
          kept = size;
          improves = true;
        }
      }
      axis->size = kept;
    }
  }
  return best;
}
