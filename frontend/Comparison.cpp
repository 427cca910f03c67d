//===- Comparison.cpp - whether two tensors hold the same values ----------===//

#include "frontend/Comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace tile;
using namespace tile::frontend;
using runtime::DType;
using runtime::Tensor;

static double relativeTolerance(DType type) {
  switch (type) {
  case DType::F64:
    return 1e-10;
  case DType::F32:
    return 1e-4;
  case DType::F16:
    return 0x1p-9;
  case DType::BF16:
    return 0x1p-6;
  case DType::F8E4M3:
    return 0x1p-2;
  case DType::F8E5M2:
    return 0x1p-1;
  case DType::Bool:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return 0;
  }
  return 0;
}

/// How large the elements of a tensor are: their root mean square, in which none counts for more
/// than ten times the upper quartile of those that are not 0.
static double scaleOf(const Tensor &tensor) {
  std::vector<double> magnitudes;
  int64_t finite = 0;
  for (int64_t n = 0; n < tensor.numElements(); ++n) {
    double value = std::abs(tensor.getDouble(n));
    finite += std::isfinite(value);
    if (std::isfinite(value) && value != 0)
      magnitudes.push_back(value);
  }
  if (magnitudes.empty())
    return 0;
  auto quartile = magnitudes.begin() + static_cast<ptrdiff_t>((magnitudes.size() - 1) * 3 / 4);
  std::nth_element(magnitudes.begin(), quartile, magnitudes.end());
  double unit = *quartile, squares = 0; // in this unit nothing overflows
  for (double magnitude : magnitudes) {
    double capped = std::min(magnitude / unit, 10.0);
    squares += capped * capped;
  }
  return unit * std::sqrt(squares / double(finite));
}

Tolerance tile::frontend::defaultTolerance(const Tensor &expected, bool isOfF8) {
  double rtol = relativeTolerance(expected.dtype());
  if (isOfF8 && rtol > 0 && expected.dtype() != DType::F64)
    rtol = std::max(rtol, 0x1p-7);
  if (rtol == 0)
    return {};
  return {rtol, 0.1 * rtol * scaleOf(expected)};
}

static bool agree(double a, double b, const Tolerance &tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b))
    return a == b;
  return std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b);
}

Comparison tile::frontend::compare(const Tensor &actual, const Tensor &expected,
                                   const Tolerance &tolerance) {
  constexpr size_t shown = 5;
  Comparison result;
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    result.problem = "it is " + actual.describe() + ", expected " + expected.describe();
    return result;
  }
  result.total = expected.numElements();
  bool isFloat = runtime::isFloat(expected.dtype());
  for (int64_t n = 0; n < result.total; ++n) {
    double error = 0;
    bool same;
    if (isFloat) {
      double a = actual.getDouble(n), b = expected.getDouble(n);
      same = agree(a, b, tolerance);
      error = std::abs(a - b);
      if (std::isfinite(error))
        result.maxError = std::max(result.maxError, error);
    } else {
      same = actual.getInt(n) == expected.getInt(n);
    }
    if (same)
      continue;
    ++result.differing;
    if (result.first.size() < shown)
      result.first.push_back({n, error});
  }
  return result;
}

std::string tile::frontend::coordinatesOf(int64_t offset, const runtime::Shape &shape) {
  std::string text;
  for (size_t n = shape.size(); n-- > 0; offset /= shape[n])
    text = std::to_string(offset % shape[n]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

static std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3g", value);
  return buffer;
}

std::string tile::frontend::describe(const Comparison &comparison, const Tensor &actual,
                                     const Tensor &expected) {
  if (!comparison.problem.empty())
    return comparison.problem;
  std::string text = std::to_string(comparison.differing) + " of " +
                     std::to_string(comparison.total) + " elements differ";
  if (runtime::isFloat(expected.dtype()))
    text += "; the greatest error is " + number(comparison.maxError);
  auto element = [](const Tensor &tensor, int64_t offset) {
    return runtime::formatElement(tensor.dtype(),
                                  tensor.data() + offset * runtime::sizeOf(tensor.dtype()));
  };
  for (const Comparison::Difference &difference : comparison.first)
    text += "\n    at " + coordinatesOf(difference.offset, expected.shape()) + ": " +
            element(actual, difference.offset) + ", expected " +
            element(expected, difference.offset);
  return text;
}
