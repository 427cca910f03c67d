//===- DotOperand.h - an operand of a contraction -------------------------===//
#ifndef TILE_CODEGEN_GPU_DOTOPERAND_H
#define TILE_CODEGEN_GPU_DOTOPERAND_H

#include "codegen/gpu/Lowering.h"

namespace tile::codegen::gpu {

/// One operand of a dot: a tile, and where its elements go.
struct DotOperand {
  Tile tile;
  CodeBuilder::Values mask;
  mlir::Type element; // of the IR
  bool hasMask;       // whether elements in the middle may be outside
  bool isZeroOutside;
  int along; // the contracted axis
  llvm::SmallVector<int64_t> strides;
  int64_t start = 0, maskStart = 0, slots = 0;
  mlir::Value base, maskBase;

  /// Lays it out with so many coordinates of the contracted axis at a time, from byte `offset` on;
  /// gives the end.
  int64_t layOut(int64_t offset, int64_t chunk, mlir::Type type,
                 llvm::ArrayRef<mlir::StringAttr> axes, const Layout &result);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DOTOPERAND_H
