//===- AssignLayouts.h - from the tile level to the tile_gpu level --------===//
//
// Gives every tile of a specialized kernel a layout. Tiles with the same axes get
// the same one, and a tile with some of these axes gets its projection, so that
// elementwise work, broadcasts and reductions move nothing. The layout follows
// the accesses: neighbours in memory are neighbours in a thread, then in a warp.
// Where an access wants another order than the tiles it meets (a transpose), one
// tile_gpu.convert stands between.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_SCHEDULE_ASSIGNLAYOUTS_H
#define TILE_CODEGEN_GPU_SCHEDULE_ASSIGNLAYOUTS_H

#include "codegen/gpu/dialect/TileGpuOps.h"

#include <optional>

namespace tile::codegen::gpu {

/// Afterwards the kernel is on the tile_gpu level, with the attributes `tile_gpu.warps` and, for
/// programs of several blocks, `tile_gpu.blocks`. Fails, with
/// an error at the place, where the extent of a tile is open. Contractions that matrix instructions
/// of warps can make have layouts for those (WarpMma.h), unless layouts are given.
mlir::LogicalResult assignLayouts(ir::KernelOp kernel, unsigned warps, unsigned blocks = 1,
                                  mlir::ArrayRef<GivenLayout> given = {});

/// For tile-opt: `tile-gpu-assign-layouts`, with the number of warps chosen.
void registerLayoutPasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_SCHEDULE_ASSIGNLAYOUTS_H
