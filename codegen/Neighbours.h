//===- Neighbours.h - which elements are next to each other ---------------===//
//
// Tensors are row-major, so that neighbours in memory lie along the last
// dimension; but a dimension of one element has none.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_NEIGHBOURS_H
#define TILE_CODEGEN_NEIGHBOURS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen {

/// The dimension along which elements are neighbours in memory: the last one with more than one
/// element, or that may have more; 0 if there is none.
unsigned innermostDimension(mlir::MemRefType type);

/// Gives the same for a kernel's parameter where its dims have these values, before code is made
/// for them; those that are not known are negative.
unsigned innermostDimension(ir::KernelOp kernel, mlir::Value parameter,
                            llvm::ArrayRef<int64_t> dims);

} // namespace tile::codegen

#endif // TILE_CODEGEN_NEIGHBOURS_H
