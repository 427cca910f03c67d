// Grid kernels: programs one after the other, in the order asked for; atomic operations by hand.

#include "tests/ir/InterpreterTestSupport.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
class InterpreterGridTest : public IrTest {
protected:
  /// Programs 0 .. N − 1 with these statements; x[N], y[N] and n[1] are `inout`, of the type.
  static std::string kernel(const std::string &type, const std::string &body) {
    std::string memory = "memref<?x" + type + ">";
    return R"(
#one = affine_map<()[n] -> (n)>
tile.kernel @grid(
    %x: )" +
           memory + R"( {tile.name = "x", tile.mode = "inout", tile.shape = #one},
    %y: )" +
           memory + R"( {tile.name = "y", tile.mode = "inout", tile.shape = #one},
    %n: )" +
           memory +
           R"( {tile.name = "n", tile.mode = "inout", tile.shape = affine_map<()[n] -> (1)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    %v = tile.load %x at #one()[%p] <exact> : )" +
           memory + ", () -> " + type + "\n" + body + R"(
  }
  tile.return
})";
  }
  static std::string access(const std::string &type) { return ", memref<?x" + type + ">, ()"; }

  InterpreterOptions inOrder(InterpreterOptions::Order order) {
    InterpreterOptions options;
    options.order = order;
    options.seed = random();
    return options;
  }
};

TEST_F(InterpreterGridTest, TicketsFollowTheOrder) {
  std::string text = kernel(
      "i64", "%old = tile.atomic <add> <relaxed> %v, %n at #one()[%c0] : i64" + access("i64") +
                 " -> i64\ntile.store %old, %y at #one()[%p] : i64" + access("i64"));
  using Order = InterpreterOptions::Order;
  for (Order order : {Order::RowMajor, Order::Reversed, Order::Shuffled}) {
    const int64_t N = 100;
    Tensor<int64_t> x({N}), y({N}), n({1});
    std::fill(x.data.begin(), x.data.end(), 1);
    n(0) = 7;
    auto result = run(text, {{"N", N}}, {}, {x.argument(), y.argument(), n.argument()}, false,
                      inOrder(order));
    ASSERT_TRUE(result.ok()) << result.message;
    EXPECT_EQ(n(0), 7 + N);
    std::vector<int64_t> expected(N);
    std::iota(expected.begin(), expected.end(), 7);
    if (order == Order::Reversed)
      std::reverse(expected.begin(), expected.end());
    if (order == Order::Shuffled) {
      EXPECT_NE(y.data, expected); // but for one of 100! orders
      std::sort(y.data.begin(), y.data.end());
    }
    EXPECT_EQ(y.data, expected);
  }
}

TEST_F(InterpreterGridTest, CompareAndSwapGoesByBits) {
  // y becomes 5 where it has the bits of x.
  std::string text = kernel("f32", R"(%five = arith.constant 5.0 : f32
    %old = tile.atomic <cas> <acq_rel> %five if %v, %y at #one()[%p] : f32 if f32)" +
                                       access("f32") + " -> f32");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor<float> x({5}), y({5}), n({1});
  x.data = {1, nan, 0.0f, -0.0f, 2};
  y.data = {1, nan, -0.0f, -0.0f, 3};
  auto result = run(text, {{"N", 5}}, {}, {x.argument(), y.argument(), n.argument()});
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(y.data, (std::vector<float>{5, 5, -0.0f, 5, 3}));
  EXPECT_TRUE(std::signbit(y(2)));
}

TEST_F(InterpreterGridTest, GreatestOfFloats) {
  std::string text = kernel("f64", "%old = tile.atomic <max> <relaxed> %v, %y at #one()[%p] : f64" +
                                       access("f64") + " -> f64");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor<double> x({5}), y({5}), n({1});
  x.data = {1, nan, 0.0, -0.0, 2};
  y.data = {nan, 1, -0.0, 0.0, -3};
  auto result = run(text, {{"N", 5}}, {}, {x.argument(), y.argument(), n.argument()});
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_TRUE(std::isnan(y(0)) && std::isnan(y(1)));
  EXPECT_FALSE(std::signbit(y(2)) || std::signbit(y(3)));
  EXPECT_EQ(y(4), 2);
}

TEST_F(InterpreterGridTest, WhatIsOutsideIsReportedOrDropped) {
  auto text = [&](const std::string &drop) {
    return kernel("i32", "%far = arith.addi %p, %N : i64\n"
                         "%old = tile.atomic <exchange> <relaxed> %v, %y at #one()[%far] " +
                             drop + " : i32" + access("i32") +
                             " -> i32\ntile.store %old, %x at #one()[%p] : i32" + access("i32"));
  };
  Tensor<int32_t> x({3}), y({3}), n({1});
  x.data = y.data = {1, 2, 3};
  std::vector<InterpreterArgument> args = {x.argument(), y.argument(), n.argument()};
  auto result = run(text(""), {{"N", 3}}, {}, args);
  EXPECT_EQ(result.message, "`y[3]` is outside [0, 3) (in the program at p = 0)");
  EXPECT_TRUE(result.isPromiseBroken);
  result = run(text("drop"), {{"N", 3}}, {}, args);
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(x.data, (std::vector<int32_t>{0, 0, 0})); // the results of what is left out
  EXPECT_EQ(y.data, (std::vector<int32_t>{1, 2, 3}));
}
} // namespace
