//===- KernelAttributes.h - what a kernel may say to the compiler ---------===//
//
// Attributes that those who ask for code give a kernel, and that the compiler reads in many
// places; and whether it is on the tile_gpu level, whose own attributes are in TileGpuOps.h.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_KERNELATTRIBUTES_H
#define TILE_CODEGEN_GPU_DIALECT_KERNELATTRIBUTES_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen {

/// An attribute of kernels: powers of two that divide dimensions, by name. The code that is made
/// relies on them, and on tensors that begin at multiples of 16 bytes.
inline constexpr llvm::StringLiteral divisorsAttrName = "tile.divisors";

/// An attribute of kernels: the most that dimensions come to, by name. Whole axes of unknown length
/// are then somewhere as if they were so long; the code must not be launched with longer ones.
inline constexpr llvm::StringLiteral limitsAttrName = "tile.limits";

/// An attribute of kernels: the order of their sums and scans follows from the extents of the tiles
/// and the number of warps alone, so that kernels that have a sum in common make it alike, whatever
/// else they do. That takes time; rows have to fit into the registers of one block.
inline constexpr llvm::StringLiteral fixedOrderAttrName = "tile.fixed_order";

//===-- The tile_gpu level (TileGpuOps.cpp) -------------------------------===//

/// Returns whether a kernel is on the tile_gpu level: its tiles have layouts, and nothing is left
/// to decide. Only GPUs run it.
bool isOnGpuLevel(ir::KernelOp kernel);
/// Returns the warps that such a kernel says it has; 0 where that is no number.
int64_t warpsOf(ir::KernelOp kernel);
/// Returns whether a kernel has tiles or ops of that level.
bool hasLayouts(ir::KernelOp kernel);
/// Lets a context read the tile_gpu level as text.
void loadGpuDialect(mlir::MLIRContext &context);

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_DIALECT_KERNELATTRIBUTES_H
