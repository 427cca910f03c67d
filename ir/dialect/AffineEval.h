//===- AffineEval.h - affine expressions on numbers -----------------------===//
//
// The one meaning of index and shape expressions. Division and remainder round
// toward −∞, x / 0 = 0 and x % 0 = x. Shapes must not leave the 64-bit integers;
// indices, which may be made of data, wrap as all integers of the language do.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_AFFINEEVAL_H
#define TILE_IR_DIALECT_AFFINEEVAL_H

#include "mlir/IR/AffineExpr.h"

#include <optional>
#include <string>

namespace tile::ir {

/// The expression's value; nothing if it leaves the 64-bit integers.
std::optional<int64_t> evaluateAffine(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                                      llvm::ArrayRef<int64_t> syms);

/// The same for an index: modulo 2^64.
int64_t evaluateIndex(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                      llvm::ArrayRef<int64_t> syms);

/// The expression as the language writes it, its symbols by name: `(K + 127) / 128`.
std::string formatAffine(mlir::AffineExpr expr, llvm::ArrayRef<llvm::StringRef> symbolNames);

} // namespace tile::ir

#endif // TILE_IR_DIALECT_AFFINEEVAL_H
