//===- Numbers.h - numbers by the GPU's own instructions ------------------===//
//
// In place of the polynomials that all targets share, where a GPU has something
// shorter of the same accuracy.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_NUMBERS_H
#define TILE_CODEGEN_GPU_LOWER_NUMBERS_H

#include "codegen/Elementwise.h"

namespace tile::codegen::gpu {

/// By instructions that only GPUs have; null where there are none for the op.
mlir::Value emitFast(CodeBuilder &b, mlir::Operation *op, mlir::ValueRange operands);
/// What an elementwise op gives for one number of each operand.
mlir::Value emitNumber(CodeBuilder &b, const TargetInfo &target, mlir::Operation *op,
                       mlir::ValueRange operands);
/// Why there is no code for an elementwise op, in words; empty: there is.
std::string whyNoNumber(mlir::Operation *op);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_NUMBERS_H
