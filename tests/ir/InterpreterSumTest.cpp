// Long sums, products and dots of floats: exact but for one rounding at the end, where adding one
// element after the other in the type itself would be far off.

#include "tests/ir/InterpreterTestSupport.h"

#include <algorithm>

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
/// In f32 or f64: t = sum(x), p = prod(x), m = mean(x), d = dot(x, w), and r, to which each program
/// adds its block's sum.
const char *const sumText = R"(
#n = affine_map<()[n] -> (n)>
#one = affine_map<()[n] -> (1)>
#id = affine_map<(d0) -> (d0)>
#first = affine_map<() -> (0)>
!n = tensor<?x$T, #tile.axes<"N">>
tile.kernel @sums(
    %x: memref<?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %w: memref<?x$T> {tile.name = "w", tile.mode = "in", tile.shape = #n},
    %t: memref<1x$T> {tile.name = "t", tile.mode = "out", tile.shape = #one},
    %p: memref<1x$T> {tile.name = "p", tile.mode = "out", tile.shape = #one},
    %m: memref<1x$T> {tile.name = "m", tile.mode = "out", tile.shape = #one},
    %d: memref<1x$T> {tile.name = "d", tile.mode = "out", tile.shape = #one})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel () {
    %zero = arith.constant 0.0 : $T
    %vx = tile.load %x at #id(%n)[] <exact> : memref<?x$T>, (!tile.span<"N">) -> !n
    %vw = tile.load %w at #id(%n)[] <exact> : memref<?x$T>, (!tile.span<"N">) -> !n
    %sum = tile.reduce <add> %vx over ["N"] : !n -> $T
    %product = tile.reduce <mul> %vx over ["N"] : !n -> $T
    %count = arith.sitofp %N : i64 to $T
    %mean = arith.divf %sum, %count : $T
    %dot = tile.dot %vx, %vw over "N" acc %zero : !n, !n -> $T
    tile.store %sum, %t at #first()[] : $T, memref<1x$T>, ()
    tile.store %product, %p at #first()[] : $T, memref<1x$T>, ()
    tile.store %mean, %m at #first()[] : $T, memref<1x$T>, ()
    tile.store %dot, %d at #first()[] : $T, memref<1x$T>, ()
  }
  tile.return
})";

/// r = the sum of x; a program adds one block.
const char *const updateText = R"(
#n = affine_map<()[n] -> (n)>
#one = affine_map<()[n] -> (1)>
#id = affine_map<(d0) -> (d0)>
#first = affine_map<() -> (0)>
!i = tensor<?x$T, #tile.axes<"i">>
tile.kernel @total(
    %x: memref<?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %r: memref<1x$T> {tile.name = "r", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %vx = tile.load %x at #id(%i)[] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %sum = tile.reduce <add> %vx over ["i"] : !i -> $T
    tile.update <add> %sum, %r at #first()[] : $T, memref<1x$T>, ()
  }
  tile.return
})";

class InterpreterSumTest : public IrTest {
protected:
  template <typename T>
  static std::string of(std::string text) {
    for (size_t at; (at = text.find("$T")) != std::string::npos;)
      text.replace(at, 2, std::is_same_v<T, float> ? "f32" : "f64");
    return text;
  }

  template <typename T>
  struct Sums {
    T sum = 0, product = 0, mean = 0, dot = 0;
  };
  template <typename T>
  Sums<T> sumsOf(Tensor<T> &x, Tensor<T> &w) {
    Tensor<T> t({1}), p({1}), m({1}), d({1});
    InterpreterResult result =
        run(of<T>(sumText), {{"N", x.shape[0]}}, {},
            {x.argument(), w.argument(), t.argument(), p.argument(), m.argument(), d.argument()});
    EXPECT_TRUE(result.ok()) << result.message;
    return {t(0), p(0), m(0), d(0)};
  }
  template <typename T>
  static Tensor<T> filled(int64_t length, T value) {
    Tensor<T> tensor({length});
    std::fill(tensor.data.begin(), tensor.data.end(), value);
    return tensor;
  }

  /// Many ones after a number whose unit in the last place is 2.
  template <typename T>
  void checkOnesAfter(T large) {
    auto x = filled<T>(1001, 1), w = filled<T>(1001, 1);
    x(0) = large;
    Sums<T> sums = sumsOf(x, w);
    EXPECT_EQ(sums.sum, large + 1000);
    EXPECT_EQ(sums.dot, large + 1000);
    EXPECT_EQ(sums.mean, (large + 1000) / 1001);
    EXPECT_EQ(sums.product, large);
    for (int64_t size : {1, 7}) {
      Tensor<T> r({1});
      InterpreterResult result =
          run(of<T>(updateText), {{"N", 1001}}, {{"i", size}}, {x.argument(), r.argument()});
      ASSERT_TRUE(result.ok()) << result.message;
      // With blocks of 1 every program adds a one; a block of 7 with the large number is rounded.
      EXPECT_NEAR(r(0), large + 1000, size == 1 ? 0 : 2);
    }
  }
};

TEST_F(InterpreterSumTest, OnesAfterALargeNumber) {
  checkOnesAfter<float>(0x1p24F);
  checkOnesAfter<double>(0x1p53);
}

TEST_F(InterpreterSumTest, MoreOnesThanAnF32Counts) {
  const int64_t N = int64_t(1) << 24 | 1 << 20;
  auto x = filled<float>(N, 1), w = filled<float>(N, 1);
  Sums<float> sums = sumsOf(x, w);
  EXPECT_EQ(sums.sum, static_cast<float>(N));
  EXPECT_EQ(sums.dot, static_cast<float>(N));
  EXPECT_EQ(sums.mean, 1);
}

TEST_F(InterpreterSumTest, RoundsOnceAtTheEnd) {
  // Multiples of 2⁻¹⁰ and of 2⁻⁵, so that 64-bit integers hold the sums exactly.
  const int64_t N = 20011;
  auto x = uniform<float>({N}, -(1 << 20), 1 << 20), w = uniform<float>({N}, 0, 1 << 10);
  int64_t sum = 0, dot = 0;
  for (int64_t n = 0; n < N; ++n) {
    auto a = static_cast<int64_t>(x(n)), b = static_cast<int64_t>(w(n));
    sum += a;
    dot += a * b;
    x(n) = std::ldexp(static_cast<float>(a), -10);
    w(n) = std::ldexp(static_cast<float>(b), -5);
  }
  Sums<float> sums = sumsOf(x, w);
  EXPECT_EQ(sums.sum, static_cast<float>(std::ldexp(static_cast<double>(sum), -10)));
  EXPECT_EQ(sums.dot, static_cast<float>(std::ldexp(static_cast<double>(dot), -15)));
  EXPECT_EQ(sums.mean, sums.sum / static_cast<float>(N));
}

TEST_F(InterpreterSumTest, ProductsRoundOnceAtTheEnd) {
  // Pairs whose product is nearly 1, so that none overflows.
  const int64_t N = 4000;
  auto x = uniform<float>({N}, 0.5, 2), w = filled<float>(N, 1);
  long double product = 1;
  for (int64_t n = 0; n < N; ++n) {
    x(n) = n % 2 == 0 ? x(n) : 1 / x(n - 1);
    product *= x(n);
  }
  EXPECT_NEAR(sumsOf(x, w).product, double(product), 0x1.001p-24 * double(product));
}

TEST_F(InterpreterSumTest, NothingAndSpecialNumbers) {
  auto none = filled<float>(0, 1);
  Sums<float> empty = sumsOf(none, none);
  EXPECT_EQ(empty.sum, 0);
  EXPECT_EQ(empty.product, 1);
  auto x = filled<float>(5, 1), w = filled<float>(5, 2);
  x(3) = INFINITY;
  EXPECT_EQ(sumsOf(x, w).sum, INFINITY);
  EXPECT_EQ(sumsOf(x, w).dot, INFINITY);
  x(1) = -INFINITY;
  EXPECT_TRUE(std::isnan(sumsOf(x, w).sum));
  // What is too large for the type at the end is infinite.
  auto large = filled<float>(3, 3e38F);
  EXPECT_EQ(sumsOf(large, large).sum, INFINITY);
}
} // namespace
