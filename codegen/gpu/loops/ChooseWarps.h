//===- ChooseWarps.h - how many warps a program has -----------------------===//
//
// By its tiles and contractions, unless the schedule says it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_CHOOSEWARPS_H
#define TILE_CODEGEN_GPU_LOOPS_CHOOSEWARPS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Warps of a program, a power of two: what the schedule says, or as many as the largest tile keeps
/// busy. For a kernel that has passed `checkSettings`.
unsigned chooseWarps(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_CHOOSEWARPS_H
