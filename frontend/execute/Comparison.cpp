//===- Comparison.cpp - whether two tensors hold the same values ----------===//

#include "frontend/execute/Comparison.h"
#include "ir/interpreter/InterpreterErrors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace tile;
using namespace tile::frontend;
using runtime::DType;
using runtime::Tensor;

/// As the interpreter has it; none of integers.
static std::optional<ir::interpreter::Number> floatOf(DType type) {
  using ir::interpreter::Number;
  switch (type) {
  case DType::F64:
    return Number::F64;
  case DType::F32:
    return Number::F32;
  case DType::F16:
    return Number::F16;
  case DType::BF16:
    return Number::BF16;
  case DType::F8E4M3:
    return Number::F8E4M3FN;
  case DType::F8E5M2:
    return Number::F8E5M2;
  case DType::Bool:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return std::nullopt;
  }
  return std::nullopt;
}

double tile::frontend::ulpOf(DType type, double value) {
  std::optional<ir::interpreter::Number> number = floatOf(type);
  return number ? ir::interpreter::ulpOf(*number, std::isfinite(value) ? value : 0) : 1;
}

static double distanceAt(const Tensor &a, const Tensor &b, int64_t offset) {
  if (runtime::isFloat(a.dtype()))
    return ir::interpreter::distance(a.getDouble(offset), b.getDouble(offset));
  int64_t x = a.getInt(offset), y = b.getInt(offset);
  // Numbers of 64 bits may be apart by less than doubles show.
  return x == y ? 0 : std::max(1.0, std::abs(static_cast<double>(x) - static_cast<double>(y)));
}

/// `allowed(offset)`: by how much the element may be off.
static Comparison compareBy(const Tensor &actual, const Tensor &expected,
                            const std::function<double(int64_t)> &allowed) {
  constexpr size_t shown = 5;
  Comparison result;
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    result.problem = "it is " + actual.describe() + ", expected " + expected.describe();
    return result;
  }
  result.total = expected.numElements();
  bool isFloat = runtime::isFloat(expected.dtype());
  double worst = 0;
  for (int64_t n = 0; n < result.total; ++n) {
    double error = distanceAt(actual, expected, n), most = allowed(n);
    if (std::isfinite(error) && isFloat)
      result.maxError = std::max(result.maxError, error);
    if (std::isinf(most)) {
      ++result.open;
      continue;
    }
    if (most > 0)
      result.mostUlps = std::max(
          result.mostUlps, most / ulpOf(expected.dtype(), isFloat ? expected.getDouble(n) : 1));
    double ratio = error == 0 ? 0 : error / most;
    if (ratio > worst) {
      worst = ratio;
      result.worst = {n, error, most};
    }
    if (error <= most)
      continue;
    ++result.differing;
    if (result.first.size() < shown)
      result.first.push_back({n, error, most});
  }
  return result;
}

Comparison tile::frontend::compare(const Tensor &actual, const Tensor &expected,
                                   const Tolerance &tolerance) {
  bool isFloat = runtime::isFloat(expected.dtype());
  return compareBy(actual, expected, [&](int64_t n) {
    double magnitude = isFloat ? std::abs(expected.getDouble(n)) : 0;
    return isFloat && std::isfinite(magnitude) ? tolerance.atol + tolerance.rtol * magnitude : 0;
  });
}

Comparison tile::frontend::compare(const Tensor &actual, const Tensor &expected,
                                   std::span<const float> bounds, const Tolerance &least) {
  bool isFloat = runtime::isFloat(expected.dtype());
  return compareBy(actual, expected, [&](int64_t n) {
    double bound = bounds.empty() ? 0.0 : static_cast<double>(bounds[static_cast<size_t>(n)]);
    double magnitude = isFloat ? std::abs(expected.getDouble(n)) : 0;
    return isFloat && std::isfinite(magnitude)
               ? std::max(bound, least.atol + least.rtol * magnitude)
               : bound;
  });
}

//===-- What GPUs are allowed ---------------------------------------------===//

static double relativeOnGpu(DType type) {
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
  default:
    return 0;
  }
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

Tolerance tile::frontend::toleranceOnGpu(const Tensor &expected, bool isOfF8) {
  double rtol = relativeOnGpu(expected.dtype());
  if (isOfF8 && rtol > 0 && expected.dtype() != DType::F64)
    rtol = std::max(rtol, 0x1p-7);
  return rtol == 0 ? Tolerance{} : Tolerance{rtol, 0.1 * rtol * scaleOf(expected)};
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
            element(expected, difference.offset) + "; off by " + number(difference.error) + ", " +
            number(difference.allowed) + " allowed";
  return text;
}
