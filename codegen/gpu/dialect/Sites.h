//===- Sites.h - what of a kernel reports to its launch -------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_SITES_H
#define TILE_CODEGEN_GPU_DIALECT_SITES_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// The number of an op in reports, which its copies keep.
inline constexpr llvm::StringLiteral siteAttrName = "tile_gpu.site";
/// Of a kernel whose accesses are watched.
inline constexpr llvm::StringLiteral watchedAttrName = "tile_gpu.watched";
/// Numbers the ops of a kernel that has something to report, because it has assertions or prints or
/// because it is to be watched.
void numberSites(ir::KernelOp kernel, bool watched);
/// Whether it has. Then a program is one block.
bool speaks(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_SITES_H
