// What `--check` and `--sweep-tiles` take for the same: rounding and cancellation, but no element
// that is wrong for its own size, whatever stands beside it.

#include "frontend/Comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tile::frontend;
using tile::runtime::DType;
using tile::runtime::Tensor;

namespace {

Tensor tensorOf(DType type, const std::vector<double> &values) {
  auto tensor = Tensor::create(type, {static_cast<int64_t>(values.size())});
  for (size_t n = 0; n < values.size(); ++n)
    tensor->setDouble(static_cast<int64_t>(n), values[n]);
  return *std::move(tensor);
}

/// How many elements are found to differ.
int64_t differing(DType type, const std::vector<double> &actual,
                  const std::vector<double> &expected) {
  Tensor a = tensorOf(type, actual), b = tensorOf(type, expected);
  return compare(a, b, defaultTolerance(b)).differing;
}

std::vector<double> normal(size_t count) {
  unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::normal_distribution<double> values;
  std::vector<double> result(count);
  for (double &value : result)
    value = values(random);
  return result;
}

TEST(Comparison, AHugeElementHidesNoOther) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (DType type : {DType::F32, DType::F64, DType::BF16})
    for (double huge :
         {1e6, 1e30, type == DType::F64 ? 1e300 : 3e38, infinity, -infinity, double(NAN)})
      for (size_t count : {3u, 5u, 100u, 1001u}) {
        std::vector<double> expected = normal(count);
        for (double &value : expected)
          value += value < 0 ? -1 : 1;
        expected[0] = huge;
        std::vector<double> actual = expected;
        EXPECT_EQ(differing(type, actual, expected), 0);
        actual[1] *= 1.5;
        actual[2] = -actual[2];
        EXPECT_EQ(differing(type, actual, expected), 2) << huge << " of " << count;
        std::swap(actual[0], actual.back());
        std::swap(expected[0], expected.back());
        EXPECT_EQ(differing(type, actual, expected), 2) << huge << " of " << count;
      }
}

TEST(Comparison, SumsThatCancelAgree) {
  // Sums of numbers of about 1 that should be 0, beside others; noise of either sign.
  for (size_t count : {5u, 100u, 1000u}) {
    std::vector<double> expected = normal(count);
    for (double &value : expected)
      value += value < 0 ? -1 : 1;
    std::vector<double> actual = expected;
    for (size_t n = 1; n < count; n += 2) {
      expected[n] = n % 4 == 1 ? 0 : 1e-7 * expected[n];
      actual[n] = -1e-7;
    }
    EXPECT_EQ(differing(DType::F32, actual, expected), 0);
    actual[1] = 1e-2;
    EXPECT_EQ(differing(DType::F32, actual, expected), 1);
  }
}

TEST(Comparison, ZerosAreExpectedToBeZero) {
  EXPECT_EQ(differing(DType::F32, {0, -0.0, 0}, {0, 0, 0}), 0);
  EXPECT_EQ(differing(DType::F32, {0, 1e-30, 0}, {0, 0, 0}), 1);
  // Most are 0, as after a ReLU: the others say what is small.
  std::vector<double> expected(1000, 0.0), actual(1000, 1e-8);
  expected[17] = actual[17] = 5;
  EXPECT_EQ(differing(DType::F32, actual, expected), 0);
  actual[18] = 1e-2;
  EXPECT_EQ(differing(DType::F32, actual, expected), 1);
  EXPECT_EQ(differing(DType::F32, {}, {}), 0);
}

TEST(Comparison, NumbersOfOneSizeAreComparedByTheirRootMeanSquare) {
  std::vector<double> values = normal(10000);
  double squares = 0;
  for (double value : values)
    squares += value * value;
  Tolerance tolerance = defaultTolerance(tensorOf(DType::F64, values));
  EXPECT_NEAR(tolerance.atol, 1e-11 * std::sqrt(squares / 10000), 1e-13);
  EXPECT_EQ(tolerance.rtol, 1e-10);
}

} // namespace
