//===- Translate.h - from lowered kernels to LLVM IR ----------------------===//
#ifndef TILE_CODEGEN_TRANSLATE_H
#define TILE_CODEGEN_TRANSLATE_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tile::codegen {

/// Loads the dialects that lowered kernels are made of, and what translates them.
void loadLoweringDialects(mlir::MLIRContext &context);

/// A module of the LLVM dialect and of arith and math on scalars and vectors, as LLVM IR. Changes
/// the module. Null after errors.
std::unique_ptr<llvm::Module> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context,
                                              llvm::StringRef name);

/// An error where some op of the kernel has open tile sizes.
mlir::LogicalResult checkIsSpecialized(ir::KernelOp kernel);

} // namespace tile::codegen

#endif // TILE_CODEGEN_TRANSLATE_H
