//===- Comparison.h - whether two tensors hold the same values ------------===//
#ifndef TILE_FRONTEND_COMPARISON_H
#define TILE_FRONTEND_COMPARISON_H

#include "runtime/Tensor.h"

#include <optional>

namespace tile::frontend {

/// Floats a and b agree if |a − b| ≤ atol + rtol·|b|, both are NaN, or both are
/// the same infinity. Integers and bools agree if they are equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

/// What reassociated sums may differ by, by element type: rtol is 1e-10 for f64,
/// 1e-4 for f32, and two units in the last place for halves and fp8; atol is a
/// tenth of rtol, times the root mean square of the finite elements of the
/// expected tensor (sums of many terms may cancel to any small value). So that a
/// few huge ones don't hide the others, each counts there for no more than ten
/// times the upper quartile of the magnitudes that are not 0. Of what comes of f8,
/// rtol of f32 and halves is at least 2⁻⁷: matrix units add up 128 products of f8
/// with some 13 bits (docs/gpu.md).
Tolerance defaultTolerance(const runtime::Tensor &expected, bool isOfF8 = false);

struct Comparison {
  struct Difference {
    /// Row-major position.
    int64_t offset;
    double error;
  };
  int64_t differing = 0;
  int64_t total = 0;
  /// The first few, in row-major order.
  std::vector<Difference> first;
  /// Of all elements that are finite in both; nothing for integers.
  double maxError = 0;
  std::string problem; // of type or shape; then nothing was compared

  bool ok() const { return differing == 0 && problem.empty(); }
};

Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &expected,
                   const Tolerance &tolerance);

/// "3 of 100 elements differ, by up to 0.5 …", a line for each of the first ones.
std::string describe(const Comparison &comparison, const runtime::Tensor &actual,
                     const runtime::Tensor &expected);

/// "[3, 17]": the coordinates of a row-major position.
std::string coordinatesOf(int64_t offset, const runtime::Shape &shape);

} // namespace tile::frontend

#endif // TILE_FRONTEND_COMPARISON_H
