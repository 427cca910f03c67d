//===- PlanText.h - what a kernel becomes on a GPU, as text ---------------===//
//
//   plan product for sm_90a
//     programs: ceil(M / 128) * ceil(N / 256), in persistent CTAs, down groups of 16 rows
//     tiles: i 128, j 256
//     role load: 4 warps, 40 registers a thread
//     role multiply: 8 warps, 232 registers a thread
//     channel: 4 stages of a 128 x 64 bf16, b 64 x 256 bf16, 196608 bytes
//     contraction: wgmma m64n256k16 bf16, both operands in shared memory
//     shared memory: 230400 bytes a CTA
//
// A line for each thing that was decided, read off what was made, so that it says what there is.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_PLANTEXT_H
#define TILE_CODEGEN_GPU_LOWER_PLANTEXT_H

#include "codegen/gpu/lower/LowerKernel.h"

#include <string>

namespace tile::codegen::gpu {

/// The plan of a kernel on the tile_gpu level, with what the lowering has made of it.
std::string planText(ir::KernelOp onGpu, const LoweredKernel &lowered, const GpuTarget &target);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_PLANTEXT_H
