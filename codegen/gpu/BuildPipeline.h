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
#ifndef TILE_CODEGEN_GPU_BUILDPIPELINE_H
#define TILE_CODEGEN_GPU_BUILDPIPELINE_H

#include "codegen/gpu/AssignLayouts.h"
#include "codegen/gpu/PlanProgram.h"
#include "codegen/gpu/Products.h"

namespace tile::codegen::gpu {

/// What the sums have to be in.
GivenLayout layoutFor(const Product &product);

/// Of a kernel with layouts, `layoutFor(product)` among them. Fails, and changes nothing, if the
/// product has come to another layout or shared memory has no room for two slots.
mlir::LogicalResult buildPipeline(ir::KernelOp kernel, Product product, const GpuModel &model);

/// For tile-opt: `tile-gpu-build-pipeline`, for a device of compute capability 9.0.
void registerPipelinePasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_BUILDPIPELINE_H
