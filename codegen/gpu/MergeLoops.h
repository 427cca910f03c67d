//===- MergeLoops.h - loops that read the same become one -----------------===//
//
// Kernels that became one bring their loops along, one behind the other:
//
//   for k in tiles(K) { p += dot(a[i, k], c[k, j], k) }
//   for l in tiles(K) { q += dot(b[i, l], c[l, j], l) }
//
// Neither waits for the other, and both read `c`. As one loop they read it once, and
// the loads of both are under way together. Every sum is made in its order of before.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_MERGELOOPS_H
#define TILE_CODEGEN_GPU_MERGELOOPS_H

#include "ir/TileOps.h"

namespace tile::codegen::gpu {

/// Merges loops with contractions that go through the same blocks in one turn, where threads carry
/// little for both.
void mergeLoops(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_MERGELOOPS_H
