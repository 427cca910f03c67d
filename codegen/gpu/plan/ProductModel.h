//===- ProductModel.h - how long a product takes, by its blocks -----------===//
//
// A model of the pipelines that BuildPipeline.h makes, for choosing the blocks of a product in
// microseconds: cycles of the tensor cores and of the second-level cache for a step, steps of a
// program, and rounds of programs on all multiprocessors.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_PRODUCTMODEL_H
#define TILE_CODEGEN_GPU_PLAN_PRODUCTMODEL_H

#include "codegen/gpu/plan/ProductCosts.h"
#include "codegen/gpu/target/Target.h"

namespace tile::codegen::gpu {

/// Of so many matrices: rows × depth times depth × columns.
struct ProductExtents {
  int64_t rows = 1, columns = 1, depth = 1, matrices = 1;
  /// Of an operand's element; results count as much.
  int64_t bytes = 2;
};

/// Blocks that may split a contraction: of a cluster, on any device that has them.
inline constexpr int64_t mostSplits = 8;

/// What a program computes, and how much of the depth at a time.
struct ProductBlock {
  int64_t rows = 0, columns = 0, depth = 0;
  /// Blocks of threads that each contract a part of all and add up what they have, as a cluster.
  int64_t splits = 1;
  /// Rows that there are at all, where those are fewer than an instruction has; 0: all.
  int64_t present = 0;
  /// Whether each turn of the loop has sums of its own, which are added to those before.
  bool isTwice = false;
  /// Boxes from which the operand of rows is computed, in registers; 0: it is in shared memory.
  int64_t computedFrom = 0;

  /// Rows of the operand that are held in shared memory.
  int64_t heldRows() const;
};

/// Warps of a block of threads that multiply: four for each 64 rows, eight at most.
unsigned multiplyingWarps(int64_t rows);
/// Blocks of threads that share a program's rows, as a cluster: two where one has no registers for
/// it. Each has half of them; what is along columns one fetches for both.
unsigned blocksOfRows(const ProductBlock &block);

/// Why a block is none for tensor cores that read operands of so many bytes an element from shared
/// memory, in rows of 128 bytes; empty if it is one. `rowsTurned`: that operand's rows go along
/// what is contracted; the same for the columns'.
std::string refusalOf(const ProductBlock &block, int64_t bytes, bool rowsTurned,
                      bool columnsTurned);

/// Slots of operands that fit into shared memory beside the results that are on their way out, and
/// beside so many bytes more.
int64_t slotsFor(const ProductBlock &block, int64_t bytes, const GpuTarget &target,
                 int64_t more = 0);
/// Slots whose products are summed up before they are added to the sums before, where that is done.
int64_t slotsOfTurn(const ProductBlock &block, int64_t bytes);
/// Slots that a pipeline has at least: blocks that split what is contracted leave their sums there.
int64_t leastSlots(const ProductBlock &block, int64_t bytes);

/// Cycles of a launch.
double cyclesOf(const ProductExtents &extents, const ProductBlock &block, const GpuTarget &target,
                const ProductCosts &costs = {});

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_PRODUCTMODEL_H
