//===- Passes.h - the passes that tile-opt runs by name -------------------===//
//
// Each step that the compiler takes, on IR text.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PASSES_H
#define TILE_CODEGEN_GPU_PASSES_H

namespace tile::codegen::gpu {

/// The passes of AssignLayouts.h, VerifyLayouts.h, PlanProgram.h and BuildPipeline.h.
void registerGpuPasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PASSES_H
