//===- Comparison.h - whether two tensors hold the same values ------------===//
#ifndef TILE_FRONTEND_EXECUTE_COMPARISON_H
#define TILE_FRONTEND_EXECUTE_COMPARISON_H

#include "runtime/tensor/Tensor.h"

#include <functional>
#include <optional>
#include <span>

namespace tile::frontend {

/// Floats a and b agree if |a − b| ≤ atol + rtol·|b|, both are NaN, or both are
/// the same infinity. Integers and bools agree if they are equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

struct Comparison {
  struct Difference {
    /// Row-major position.
    int64_t offset;
    double error;
    double allowed;
  };
  int64_t differing = 0;
  int64_t total = 0;
  /// Elements where anything is allowed.
  int64_t open = 0;
  /// The first few, in row-major order.
  std::vector<Difference> first;
  /// Where the error is the greatest part of what is allowed; none where all are 0.
  std::optional<Difference> worst;
  /// It is that of all elements that are finite in both.
  double maxError = 0;
  /// What is allowed at most, in units of the last place of what is expected; 0 if nothing is.
  double mostUlps = 0;
  std::string problem; // of type or shape; then nothing was compared

  bool ok() const { return differing == 0 && problem.empty(); }
};

Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &expected,
                   const Tolerance &tolerance);
/// With a bound for each element, floats and integers alike; none: they are equal. Where one is
/// infinite, anything agrees.
Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &expected,
                   std::span<const float> bounds, const Tolerance &least = {});

/// What is allowed on a GPU in any case, whose atomic operations, scans and sums of f8 the bounds
/// don't know well enough: rtol is 1e-10 for f64, 1e-4 for f32, two units in the last place for
/// halves and f8; atol is a tenth of rtol, times the root mean square of the finite elements, where
/// none counts for more than ten times the upper quartile of the magnitudes that are not 0. Of what
/// comes of f8, rtol of f32 and halves is at least 2⁻⁷: matrix units add up 128 products of f8 with
/// some 13 bits (docs/gpu.md).
Tolerance toleranceOnGpu(const runtime::Tensor &expected, bool isOfF8);

/// The distance of a value to the next one of its type; 1 for integers.
double ulpOf(runtime::DType type, double value);

/// "3 of 100 elements differ, by up to 0.5 …", a line for each of the first ones.
std::string describe(const Comparison &comparison, const runtime::Tensor &actual,
                     const runtime::Tensor &expected);

/// "[3, 17]": the coordinates of a row-major position.
std::string coordinatesOf(int64_t offset, const runtime::Shape &shape);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_COMPARISON_H
