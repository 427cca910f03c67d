//===- PlanProgram.h - what a program of a kernel has of the device -------===//
//
// A whole axis has to be somewhere while it is worked on. From the fastest to the
// most patient:
//
//   in the registers of one block     rows up to some ten thousand elements
//   in those of a cluster of blocks   up to sixteen times that; reductions go
//                                     through the blocks' shared memory
//   in chunks, read in each phase     any length (LoopAxis.h); what shared memory
//                                     holds of it is kept there
//
// The plan is made for each kernel from its tiles, and changes no result but by
// the order of sums. `warps` and `cluster` in the schedule come first.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_PLANPROGRAM_H
#define TILE_CODEGEN_GPU_PLAN_PLANPROGRAM_H

#include "codegen/gpu/target/Target.h"
#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Registers of a CTA that tiles may take: half of them are for all else.
inline constexpr int64_t registersForTiles = registersOfMultiprocessor / 2;

/// Of a kernel: so many programs ahead each asks for rows (Prefetch.cpp).
inline constexpr llvm::StringLiteral prefetchAttrName = "tile_gpu.prefetch";

/// What an instruction asks for ahead begins at a multiple of as many bytes, and is one.
inline constexpr int64_t prefetchUnit = 16;

/// A load of whole rows, which a program can ask for in place of another.
struct PrefetchedRows {
  ir::LoadOp load;
  /// In a program, and of each.
  int64_t count = 1, bytes = 0;
  /// Whether each begins at a multiple of 16 bytes.
  bool isAligned = false;
};
llvm::SmallVector<PrefetchedRows> prefetchedRows(ir::KernelOp kernel);

struct ProgramPlan {
  unsigned warps = 4, blocks = 1;
  /// Blocks that a multiprocessor has at a time, by its threads and what a thread holds.
  unsigned ctasAtATime = 1;
  /// For `prefetchAttrName`; 0: nobody asks.
  int64_t ahead = 0;
  /// The axis that is cut into chunks, if any; how often it is gone through, and how many of them
  /// are kept.
  ir::AxisOp looped;
  unsigned phases = 0;
  int64_t chunk = 0, keptChunks = 0;
};

/// Makes room for the longest that axes of unknown length may be (limitsAttrName).
void makeRoom(ir::KernelOp kernel);

/// The plan for a specialized kernel that has passed `checkSettings`.
ProgramPlan planProgram(ir::KernelOp kernel, const GpuTarget &target);

/// Cuts the axis, if the plan says so.
void applyPlan(ir::KernelOp kernel, const ProgramPlan &plan);

/// Lowers the number of chunks that are kept to what shared memory has room for, now that layouts
/// say what a thread keeps.
void limitKeptChunks(ir::KernelOp kernel, const GpuTarget &target);

/// For tile-opt: `tile-gpu-materialize-axes`, for a device of compute capability 9.0.
void registerPlanPasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_PLANPROGRAM_H
