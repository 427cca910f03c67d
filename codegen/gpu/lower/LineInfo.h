//===- LineInfo.h - places of the source in PTX ---------------------------===//
//
// PTX says by `.loc` from which line of which file an instruction comes: profilers
// and compute-sanitizer show it. It costs nothing at run time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_LINEINFO_H
#define TILE_CODEGEN_GPU_LOWER_LINEINFO_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tile::codegen::gpu {

/// Makes the places of a function's ops ones that are translated to `.loc`, with the file that each
/// stands in. The function is named after `place`; without one in a file nothing changes. Ops
/// without a place of their own get that of the function.
void addLineInfo(mlir::LLVM::LLVMFuncOp function, mlir::Location place);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_LINEINFO_H
