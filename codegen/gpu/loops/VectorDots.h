//===- VectorDots.h - dots of vectors are sums of products ----------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_VECTORDOTS_H
#define TILE_CODEGEN_GPU_LOOPS_VECTORDOTS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Whether a dot is of whole vectors, also of many at once and of the rows of a matrix with one:
/// each product is added to one sum only. The blocks of a loop that an author wrote are none, nor
/// is what a product of matrices contracts, too, with which it shares a loop; nor any where the
/// order of sums is fixed.
bool isOfVectors(ir::DotOp dot);

/// Such dots become sums of products. Nothing is gained by blocks of theirs in shared memory; the
/// sum is made where its operands are loaded, as other sums of rows are.
void sumVectorDots(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_VECTORDOTS_H
