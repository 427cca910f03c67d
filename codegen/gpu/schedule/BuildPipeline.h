//===- BuildPipeline.h - from a loop of products to roles and a channel ---===//
//
//   for each block k: load x, load y, dot         "load":      for each block: put x, y
//                                            →    "multiply":  for each block: get, mma, release
//   what follows                                               what follows
//
// One group of warps has blocks of the operands copied into a ring of slots, others
// multiply what is there on the tensor cores, and go on with the sums. Blocks of threads run
// program after program: while one's result is stored the next one's operands come.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_SCHEDULE_BUILDPIPELINE_H
#define TILE_CODEGEN_GPU_SCHEDULE_BUILDPIPELINE_H

#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/schedule/AssignLayouts.h"

namespace tile::codegen::gpu {

/// What the sums have to be in, and behind them an operand that is computed.
llvm::SmallVector<GivenLayout, 0> layoutsFor(const Product &product);

/// Whether the kernel's schedule asks for what a pipeline can have: `stages`, 2 or more; `order`,
/// rowmajor or grouped(n). Otherwise an error at the kernel says what would fit.
mlir::LogicalResult checkSchedule(ir::KernelOp kernel, const Product &product,
                                  const GpuTarget &target);

/// Of a kernel with layouts, `layoutFor(product)` among them, and a schedule that was checked.
/// Gives, and changes nothing, why there can't be one: empty if there is now.
std::string buildPipeline(ir::KernelOp kernel, Product product, const GpuTarget &target);

/// For tile-opt: `tile-gpu-build-pipeline`, for a device of compute capability 9.0.
void registerPipelinePasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_SCHEDULE_BUILDPIPELINE_H
