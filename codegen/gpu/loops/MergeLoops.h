//===- MergeLoops.h - loops over the same blocks become one ---------------===//
//
// Kernels that became one bring their loops along, one behind the other:
//
//   for k in tiles(16) { p += dot(a[i, k], c[k, j], k) }
//   for l in tiles(16) { q += dot(b[i, l], c[l, j], l) }
//
// Neither waits for the other. As one loop of one turn they have all of their loads under
// way together, and what both read is read once. Every sum is made in its order of before.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_MERGELOOPS_H
#define TILE_CODEGEN_GPU_LOOPS_MERGELOOPS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Merges loops with contractions that go through the same blocks in one turn, where threads carry
/// little for both; not in kernels that assert, print, are watched, or have conditions on axes.
void mergeLoops(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_MERGELOOPS_H
