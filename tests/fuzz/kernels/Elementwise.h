// Elementwise ops on ranges: every result that IEEE arithmetic, and functions with the errors that
// tests/codegen/MathTest.cpp states, may give.
#pragma once

#include "tests/fuzz/kernels/NumberSet.h"

#include "ir/dialect/TileOps.h"

#include <optional>

namespace tile::fuzz {

/// The element type; unsigned types share that of signed ones.
std::optional<DType> dtypeOf(mlir::Type type);

/// A result of an elementwise op of arith, math or tile; none for an op that is not known here.
std::optional<NumberSet> evaluate(mlir::Operation *op, llvm::ArrayRef<NumberSet> operands,
                                  DType type, unsigned result = 0);

/// The same of one whose first operand is a float (ElementwiseFloats.cpp).
std::optional<NumberSet> evaluateFloats(mlir::Operation *op, llvm::ArrayRef<NumberSet> operands,
                                        DType type);

/// How many bits a number has.
unsigned widthOf(DType type);
/// Keeps the low bits, sign-extended; of a bool the lowest one.
int64_t wrap(DType type, uint64_t value);
/// What combining two integers gives.
int64_t combineIntegers(ir::CombineKind kind, DType type, int64_t x, int64_t y);
/// max, min, fmax or fmin of floats.
NumberSet extreme(ir::CombineKind kind, const NumberSet &a, const NumberSet &b);
/// What combining nothing gives.
NumberSet identityOf(ir::CombineKind kind, DType type);

} // namespace tile::fuzz
