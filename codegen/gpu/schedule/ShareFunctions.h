//===- ShareFunctions.h - functions that each element is computed of once -===//
//
//   let c = sin(b[j])        a tile [j], which a layout of [i, j] has in every warp
//   y[i, j] = x[i, j] + c
//
// Before it is broadcast, threads may share out what takes long, and move it through
// shared memory, once.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_SCHEDULE_SHAREFUNCTIONS_H
#define TILE_CODEGEN_GPU_SCHEDULE_SHAREFUNCTIONS_H

#include "codegen/gpu/dialect/Layout.h"
#include "ir/dialect/TileOps.h"

#include "llvm/ADT/DenseMap.h"

namespace tile::codegen::gpu {

/// The layout in which tiles of these axes have no copies that they need not have.
using LayoutOfAxes = llvm::function_ref<Layout(llvm::ArrayRef<mlir::StringAttr>)>;

/// Changes the layouts that are chosen for what elementwise ops compute of tiles with few axes,
/// where more instructions are saved than the way costs.
void shareFunctions(ir::KernelOp kernel, llvm::DenseMap<mlir::Value, Layout> &chosen,
                    LayoutOfAxes layoutOf);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_SCHEDULE_SHAREFUNCTIONS_H
