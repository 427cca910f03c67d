// What counts as the same: by a tolerance that a call asks for, and by a bound for each element.

#include "frontend/execute/Comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tile::frontend;
using tile::runtime::DType;
using tile::runtime::Tensor;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor tensorOf(DType type, const std::vector<double> &values) {
  auto tensor = Tensor::create(type, {static_cast<int64_t>(values.size())});
  for (size_t n = 0; n < values.size(); ++n)
    if (tile::runtime::isFloat(type))
      tensor->setDouble(static_cast<int64_t>(n), values[n]);
    else
      tensor->setInt(static_cast<int64_t>(n), static_cast<int64_t>(values[n]));
  return *std::move(tensor);
}

Comparison compared(DType type, const std::vector<double> &actual,
                    const std::vector<double> &expected, const std::vector<float> &bounds) {
  return compare(tensorOf(type, actual), tensorOf(type, expected), bounds);
}

TEST(Comparison, WithoutBoundsBitsCount) {
  for (DType type : {DType::F32, DType::F64, DType::BF16, DType::I32}) {
    EXPECT_TRUE(compared(type, {1, -2, 0}, {1, -2, 0}, {}).ok());
    EXPECT_EQ(compared(type, {1, -2, 0}, {1, 2, 1}, {}).differing, 2);
  }
  EXPECT_EQ(compared(DType::F64, {1 + 0x1p-52}, {1}, {}).differing, 1);
  EXPECT_TRUE(compared(DType::F32, {NAN, infinity, -0.0}, {NAN, infinity, 0}, {}).ok());
  EXPECT_EQ(compared(DType::F32, {NAN, infinity, 1}, {1, -infinity, NAN}, {}).differing, 3);
}

TEST(Comparison, EachElementHasItsOwnBound) {
  Comparison result =
      compared(DType::F32, {1.5, 100, 3.25, 7}, {1, 100.5, 3, 7}, {0.5f, 0.25f, 1, 0});
  EXPECT_EQ(result.differing, 1);
  ASSERT_EQ(result.first.size(), 1u);
  EXPECT_EQ(result.first[0].offset, 1);
  EXPECT_EQ(result.first[0].allowed, 0.25);
  EXPECT_EQ(result.maxError, 0.5);
  ASSERT_TRUE(result.worst);
  EXPECT_EQ(result.worst->offset, 1);
  EXPECT_EQ(result.mostUlps, std::ldexp(1.0, 22)); // of the third: 1 beside an ulp of 2⁻²²
  // What isn't finite has to be so in both, whatever the bound.
  EXPECT_EQ(compared(DType::F32, {NAN, 1, infinity}, {1, NAN, 1}, {9, 9, 9}).differing, 3);
}

TEST(Comparison, IntegersMayHaveBounds) {
  EXPECT_TRUE(compared(DType::I8, {3, -4}, {4, -4}, {1, 0}).ok());
  EXPECT_EQ(compared(DType::I8, {3, -4}, {5, -4}, {1, 0}).differing, 1);
  EXPECT_EQ(compared(DType::Bool, {1, 0}, {0, 0}, {0, 1}).differing, 1);
  // Neighbours that doubles don't tell apart.
  Tensor a = tensorOf(DType::I64, {0}), b = tensorOf(DType::I64, {0});
  a.setInt(0, (int64_t(1) << 60) + 1);
  b.setInt(0, int64_t(1) << 60);
  EXPECT_EQ(compare(a, b, std::span<const float>()).differing, 1);
}

TEST(Comparison, OpenElementsAreCounted) {
  Comparison result = compared(DType::F32, {1, 2}, {9, 2}, {infinity, 0});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.open, 1);
}

TEST(Comparison, ToleranceOfACall) {
  Tensor a = tensorOf(DType::F32, {1.01, 0.001, 5}), b = tensorOf(DType::F32, {1, 0, 5});
  EXPECT_EQ(compare(a, b, Tolerance{0, 0}).differing, 2);
  EXPECT_EQ(compare(a, b, Tolerance{0.02, 0}).differing, 1);
  EXPECT_EQ(compare(a, b, Tolerance{0.02, 0.002}).differing, 0);
  Tensor ends = tensorOf(DType::F32, {infinity, NAN});
  EXPECT_EQ(compare(ends, tensorOf(DType::F32, {1e30, 1}), Tolerance{1, 1}).differing, 2);
  EXPECT_TRUE(compare(ends, ends, Tolerance{0, 0}).ok());
}

TEST(Comparison, UlpsOfTypes) {
  EXPECT_EQ(ulpOf(DType::F32, 1), 0x1p-23);
  EXPECT_EQ(ulpOf(DType::F32, -1.99), 0x1p-23);
  EXPECT_EQ(ulpOf(DType::F32, 0), 0x1p-149);
  EXPECT_EQ(ulpOf(DType::F64, 8), 0x1p-49);
  EXPECT_EQ(ulpOf(DType::BF16, 1), 0x1p-7);
  EXPECT_EQ(ulpOf(DType::F16, 0x1p-20), 0x1p-24);
  EXPECT_EQ(ulpOf(DType::F8E4M3, 1), 0x1p-3);
  EXPECT_EQ(ulpOf(DType::U8, 200), 1);
}

} // namespace
