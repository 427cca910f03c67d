//===- TileSizes.h - tile sizes for a GPU ---------------------------------===//
//
// What a schedule leaves open: so many elements a program that each thread has a
// few accesses of 16 bytes in flight, neighbours in memory for neighbouring
// threads, and programs for all multiprocessors. How many warps share a program,
// and where its whole axes are, is planned afterwards (PlanProgram.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_TILESIZES_H
#define TILE_CODEGEN_GPU_PLAN_TILESIZES_H

#include "codegen/gpu/plan/PlanProgram.h"
#include "ir/transforms/Specialize.h"

namespace tile::codegen::gpu {

/// Sizes for those binders of a kernel's template that have none in `given`. A binder that the
/// schedule names gets one of its candidates, of `schedule cuda` if it is there. `dims` are the
/// values of the kernel's dimensions, in their order; negative, or missing at the end, where they
/// are not known yet; what divides those the kernel may say (divisorsAttrName). For dims that are
/// `fixed`, a schedule's block is no longer than its axis needs; else other lengths share its code.
/// Reads the kernel alone: equal calls choose equal sizes. `isPipeline`, if it isn't null, becomes
/// whether they are those of a pipeline (Products.h).
llvm::StringMap<int64_t> chooseTiles(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                     const llvm::StringMap<int64_t> &given, const GpuTarget &target,
                                     bool fixed = false, bool *isPipeline = nullptr);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_TILESIZES_H
