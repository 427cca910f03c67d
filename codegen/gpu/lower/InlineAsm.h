//===- InlineAsm.h - instructions that LLVM has no name for ---------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_INLINEASM_H
#define TILE_CODEGEN_GPU_LOWER_INLINEASM_H

#include "codegen/CodeBuilder.h"

#include <string>

namespace tile::codegen::gpu {

/// An instruction of PTX: `$0`, `$1`, … are its results, which become one struct if there are
/// several, then its operands. The result is null for a null type.
mlir::Value inlineAsm(CodeBuilder &b, mlir::Type result, mlir::ValueRange operands,
                      const std::string &text, const std::string &constraints, bool hasSideEffects);

/// Whether an instruction, or one among several, is for all threads of a warp, a block or a cluster
/// together, which meet there: PTX calls those `.sync`, `.aligned` or `bar`. LLVM must neither copy
/// them into branches nor move them there.
bool isConvergent(llvm::StringRef text);

/// "$3", or "{$3, $4}".
std::string operandList(unsigned first, unsigned count);

/// An instruction that changes registers in place: `inputs` and results are operands $0 on, all
/// f32 or all i32; `others` come after twice as many numbers as there are inputs.
CodeBuilder::Values emitTiedAsm(CodeBuilder &b, mlir::ValueRange inputs, mlir::ValueRange others,
                                const std::string &otherConstraints, const std::string &text);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_INLINEASM_H
