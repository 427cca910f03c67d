// Elementwise ops on ranges: every result that IEEE arithmetic, and functions with the errors that
// tests/codegen/MathTest.cpp states, may give.
#pragma once

#include "tests/fuzz/kernels/Range.h"

#include "ir/TileOps.h"

#include <optional>

namespace tile::fuzz {

/// The element type; unsigned types share that of signed ones.
std::optional<DType> dtypeOf(mlir::Type type);

/// The result of an elementwise op of arith, math or tile; none for an op that is not known here.
std::optional<Range> evaluate(mlir::Operation *op, llvm::ArrayRef<Range> operands, DType result);

/// Keeps the low bits, sign-extended; of a bool the lowest one.
int64_t wrap(DType type, uint64_t value);
/// What combining two integers gives.
int64_t combineIntegers(ir::CombineKind kind, DType type, int64_t x, int64_t y);
/// max, min, fmax or fmin of floats.
Range extreme(ir::CombineKind kind, const Range &a, const Range &b);
/// What combining nothing gives.
Range identityOf(ir::CombineKind kind, DType type);

} // namespace tile::fuzz
