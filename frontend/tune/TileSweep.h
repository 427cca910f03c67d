//===- TileSweep.h - tile sizes that ought not to matter ------------------===//
//
// Promise 1 of the language is that tile sizes never change what a kernel
// computes. A sweep is a list of choices to test it with: for each binder sizes
// that divide nothing, primes, powers of two, and blocks beyond its dimension.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TUNE_TILESWEEP_H
#define TILE_FRONTEND_TUNE_TILESWEEP_H

#include "frontend/execute/TileSizes.h"

namespace tile::frontend {

/// At most `count` different choices for these kernels, the same ones at every
/// call. `largestExtent` is the greatest extent of an argument.
std::vector<TileSizes> tileSweep(llvm::ArrayRef<ir::KernelOp> kernels, int64_t largestExtent,
                                 size_t count);

/// "i=3 j=17", kernels' names before binders where there are several.
std::string describe(const TileSizes &sizes);

} // namespace tile::frontend

#endif // TILE_FRONTEND_TUNE_TILESWEEP_H
