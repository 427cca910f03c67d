//===- Access.h - an access of a tile, while it is lowered ----------------===//
#ifndef TILE_CODEGEN_GPU_ACCESS_H
#define TILE_CODEGEN_GPU_ACCESS_H

#include "codegen/gpu/Lowering.h"

namespace tile::codegen::gpu {

/// One load or store of a tile, as it is being emitted.
struct KernelLowering::Access {
  Tensor tensor;
  mlir::AffineMap map;
  mlir::ValueRange dims;
  llvm::SmallVector<mlir::Value> syms;
  llvm::SmallVector<mlir::Value> symSources; // of the IR
  llvm::SmallVector<mlir::StringAttr> axes;
  Layout layout;
  Values mask;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_ACCESS_H
