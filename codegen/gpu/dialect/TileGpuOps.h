//===- TileGpuOps.h - the tile_gpu level ----------------------------------===//
//
// Layouts as encodings of tiles, and the ops that move elements between threads
// (see TileGpuOps.td).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_TILEGPUOPS_H
#define TILE_CODEGEN_GPU_DIALECT_TILEGPUOPS_H

#include "codegen/gpu/dialect/Layout.h"
#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {
/// Whether the type is a tile whose encoding is a layout.
bool hasLayout(mlir::Type type);
} // namespace tile::codegen::gpu

#include "codegen/gpu/dialect/TileGpuDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/gpu/dialect/TileGpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/gpu/dialect/TileGpuTypes.h.inc"
#define GET_OP_CLASSES
#include "codegen/gpu/dialect/TileGpuOps.h.inc"

namespace tile::codegen::gpu {
/// Of a tile that has one.
Layout layoutOf(mlir::Type tile);
/// A layout of these axes as the layout of a tile with those, which are among them.
Layout reordered(const Layout &layout, mlir::ArrayRef<mlir::StringAttr> from,
                 mlir::ArrayRef<mlir::StringAttr> to);
/// A layout that tiles with these axes have to have, in this order of axes.
struct GivenLayout {
  llvm::SmallVector<mlir::StringAttr> axes;
  Layout layout;
};
/// How many warps a kernel on this level has: an attribute of it.
inline constexpr llvm::StringLiteral warpsAttrName = "tile_gpu.warps";
/// Of a kernel: blocks of threads run one program after the other.
inline constexpr llvm::StringLiteral persistentAttrName = "tile_gpu.persistent";
/// Of a kernel: programs go along the first binder for so many blocks before they step along the
/// second, so that programs that run together read the same operands.
inline constexpr llvm::StringLiteral groupAttrName = "tile_gpu.group";
/// Whether a kernel's warps have roles.
bool hasRoles(ir::KernelOp kernel);
/// The warps that run an op: those of its role, or all.
int64_t numWarpsOf(mlir::Operation *op);
/// The number of the role that an op stands in.
unsigned roleOf(RolesOp roles, mlir::Operation *op);
/// The registers that a thread has when a kernel of so many warps with roles starts.
int64_t registersAtStart(int64_t warps);
/// Whether a role starts copies. Such a role is one thread's.
bool puts(mlir::Region &role);
/// What advances a channel in a role; null: nothing does.
AdvanceOp advanceOf(mlir::Region &role, mlir::Value channel);
/// Whether its warpgroups take turns.
bool takesTurns(mlir::Region &role);
/// How many blocks make one program, as a cluster: an attribute of kernels; without it one.
inline constexpr llvm::StringLiteral blocksAttrName = "tile_gpu.blocks";
unsigned numBlocks(ir::KernelOp kernel);
/// Whether its code waits by itself for the kernels before it, behind what it does at first: it has
/// roles, and reads nothing before them.
bool startsEarly(ir::KernelOp kernel);
/// The tile with this layout in the place of its encoding.
mlir::Type withLayout(mlir::Type tile, const Layout &layout);
} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_TILEGPUOPS_H
