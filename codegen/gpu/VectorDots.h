//===- VectorDots.h - dots of vectors are sums of products ----------------===//
#ifndef TILE_CODEGEN_GPU_VECTORDOTS_H
#define TILE_CODEGEN_GPU_VECTORDOTS_H

#include "ir/TileOps.h"

namespace tile::codegen::gpu {

/// Dots of vectors, also of many at once and of the rows of a matrix with one, become sums of
/// products: each product is added to one sum only, so that nothing is gained by blocks in shared
/// memory, and the sum is made where its operands are loaded, as other sums of rows are.
void sumVectorDots(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_VECTORDOTS_H
