// Contractions of whole axes as loops, and what moves behind them, give what they gave: by the
// interpreter, against double precision.
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "tests/ir/InterpreterTestSupport.h"

#include "mlir/IR/Verifier.h"

using namespace tile::codegen::gpu;
using namespace tile::ir;
using namespace tile::ir::test;

namespace {
/// y = (r + x · w + (−x) · v) · r, and z = x · v. `more` is loaded before all, and has to come
/// behind.
const char *const text = R"(
#a = affine_map<()[m, n, k] -> (m, k)>
#b = affine_map<()[m, n, k] -> (k, n)>
#c = affine_map<()[m, n, k] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
!acc = tensor<?x?xf32, #tile.axes<"i", "j">>
!left = tensor<?x?xf32, #tile.axes<"i", "K">>
!right = tensor<?x?xf32, #tile.axes<"K", "j">>
tile.kernel @added(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #a},
    %w: memref<?x?xf32> {tile.name = "w", tile.mode = "in", tile.shape = #b},
    %v: memref<?x?xf32> {tile.name = "v", tile.mode = "in", tile.shape = #b},
    %r: memref<?x?xf32> {tile.name = "r", tile.mode = "in", tile.shape = #c},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #c},
    %z: memref<?x?xf32> {tile.name = "z", tile.mode = "out", tile.shape = #c})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %k = tile.axis %c0 to %K : !tile.span<"K">
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %more = tile.load %r at #id(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> !acc
    %none = tile.broadcast %zero : f32 to !acc
    %t = tile.load %x at #id(%i, %k) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"K">) -> !left
    %u = tile.load %w at #id(%k, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"K">, !tile.span<"j">) -> !right
    %q = tile.load %v at #id(%k, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"K">, !tile.span<"j">) -> !right
    %g = tile.dot %t, %u over "K" acc %more : !left, !right -> !acc
    %s = arith.negf %t : !left
    %h = tile.dot %s, %q over "K" acc %g : !left, !right -> !acc
    %p = tile.dot %t, %q over "K" acc %none : !left, !right -> !acc
    %dead = tile.dot %t, %u over "K" acc %more : !left, !right -> !acc
    %all = arith.mulf %h, %more : !acc
    tile.store %all, %y at #id(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    tile.store %p, %z at #id(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
})";

class LoopContractions : public IrTest {};
} // namespace

TEST_F(LoopContractions, GiveTheSame) {
  for (int64_t depth : {0, 1, 31, 32, 100}) {
    SCOPED_TRACE(depth);
    constexpr int64_t rows = 7, columns = 5;
    auto x = uniform<float>({rows, depth}, -1, 1), w = uniform<float>({depth, columns}, -1, 1);
    auto v = uniform<float>({depth, columns}, -1, 1), r = uniform<float>({rows, columns}, -1, 1);
    Tensor<float> y({rows, columns}), z({rows, columns});
    KernelOp kernel = parse(text);
    Bindings bindings;
    bindings.sizes = toMap({{"i", 4}, {"j", 3}});
    ASSERT_TRUE(succeeded(specialize(kernel, bindings))) << diagnostics;
    llvm::StringMap<int64_t> loops = loopContractions(kernel);
    sinkBehindProducts(kernel);
    ASSERT_TRUE(succeeded(mlir::verify(kernel))) << diagnostics;
    EXPECT_EQ(loops.size(), 1u);
    EXPECT_EQ(loops.lookup("K@0"), 32);
    ForOp loop;
    kernel.walk([&](ForOp found) { loop = found; });
    ASSERT_TRUE(loop);
    EXPECT_EQ(loop.getNumResults(), 2u); // the chain's sums, and the other's
    for (mlir::Operation *op = loop->getPrevNode(); op; op = op->getPrevNode())
      EXPECT_FALSE(mlir::isa<LoadOp>(op)) << "it comes behind";
    InterpreterResult result = interpret(
        kernel,
        {x.argument(), w.argument(), v.argument(), r.argument(), y.argument(), z.argument()},
        {rows, columns, depth});
    ASSERT_TRUE(result.ok()) << result.message;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double first = 0, second = 0;
        for (int64_t k = 0; k < depth; ++k) {
          first += double(x(i, k)) * w(k, j);
          second += double(x(i, k)) * v(k, j);
        }
        EXPECT_NEAR(y(i, j), (r(i, j) + first - second) * r(i, j), 1e-4);
        EXPECT_NEAR(z(i, j), second, 1e-4);
      }
  }
}

/// An axis that nothing has any more, as after a contraction that nothing uses.
TEST_F(LoopContractions, WhatNothingUsesGoes) {
  std::string dead = text;
  auto cut = [&](const std::string &from, const std::string &to) {
    size_t at = dead.find(from);
    ASSERT_NE(at, std::string::npos);
    dead.replace(at, from.size(), to);
  };
  cut("arith.mulf %h, %more", "arith.mulf %none, %more");
  cut("tile.store %p", "tile.store %none");
  KernelOp kernel = parse(dead);
  Bindings bindings;
  bindings.sizes = toMap({{"i", 4}, {"j", 3}});
  ASSERT_TRUE(succeeded(specialize(kernel, bindings))) << diagnostics;
  loopContractions(kernel);
  simplify(kernel);
  loopContractions(kernel);
  unsigned left = 0;
  kernel.walk([&](mlir::Operation *op) { left += mlir::isa<DotOp, AxisOp, ForOp>(op); });
  EXPECT_EQ(left, 0u);
}

namespace {
/// A row of running sums from 1 on, and what is left of the last one at each element; `reverse`
/// stands in the place of the question mark, or nothing.
const char *const scans = R"(
#a = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
!row = tensor<?xf32, #tile.axes<"i">>
!tile = tensor<?x?xf32, #tile.axes<"i", "N">>
tile.kernel @scanned(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #a},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #a},
    %z: memref<?x?xf32> {tile.name = "z", tile.mode = "out", tile.shape = #a})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !tile
    %init = tile.broadcast %one : f32 to !row
    %s:2 = tile.scan "cumsum" (%t : !tile) from (%init : !row) over "N" ? {
    ^bb0(%state: f32, %element: f32):
      %sum = arith.addf %state, %element : f32
      tile.combined %sum : f32
    }
    tile.store %s#0, %y at #id(%i, %n) [] : !tile, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    %last = tile.broadcast %s#1 : !row to !tile
    %rest = arith.subf %last, %s#0 : !tile
    tile.store %rest, %z at #id(%i, %n) [] : !tile, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
})";
} // namespace

/// A scan goes on from chunk to chunk, from either end, and again where its last state has to be
/// known before.
TEST_F(LoopContractions, ScansGoOn) {
  for (bool isReversed : {false, true})
    for (int64_t length : {0, 1, 7, 8, 61}) {
      SCOPED_TRACE(testing::Message() << length << (isReversed ? " reversed" : ""));
      constexpr int64_t rows = 5;
      auto x = uniform<float>({rows, length}, -1, 1);
      Tensor<float> y({rows, length}), z({rows, length});
      std::string text = scans;
      text.replace(text.find('?', text.find("over \"N\"")), 1, isReversed ? "reverse" : "");
      KernelOp kernel = parse(text);
      Bindings bindings;
      bindings.sizes = toMap({{"i", 2}});
      ASSERT_TRUE(succeeded(specialize(kernel, bindings))) << diagnostics;
      AxisOp axis = *kernel.getBody().getOps<AxisOp>().begin();
      std::optional<LoopedAxis> looped = canLoop(axis);
      ASSERT_TRUE(looped);
      EXPECT_EQ(looped->phases, 2u);
      loopAxis(axis, 8);
      ASSERT_TRUE(succeeded(mlir::verify(kernel))) << diagnostics;
      InterpreterResult result =
          interpret(kernel, {x.argument(), y.argument(), z.argument()}, {rows, length});
      ASSERT_TRUE(result.ok()) << result.message;
      for (int64_t i = 0; i < rows; ++i) {
        double last = 1, sum = 1;
        for (int64_t n = 0; n < length; ++n)
          last += x(i, n);
        for (int64_t k = 0; k < length; ++k) {
          int64_t n = isReversed ? length - 1 - k : k;
          sum += x(i, n);
          EXPECT_NEAR(y(i, n), sum, 1e-5);
          EXPECT_NEAR(z(i, n), last - sum, 1e-5);
        }
      }
    }
}

/// One loop can't carry both: the axis stays as it is.
TEST_F(LoopContractions, ScansOfBothOrdersStay) {
  std::string text = scans;
  text.replace(text.find('?', text.find("over \"N\"")), 1, "");
  std::string other =
      text.substr(text.find("    %s:2"), text.find("    tile.store %s#0") - text.find("    %s:2"));
  other.replace(other.find("%s:2"), 4, "%r:2");
  other.replace(other.find("over \"N\""), 8, "over \"N\" reverse");
  text.insert(text.find("    tile.store %s#0"), other);
  std::string used = "%last, %s#0";
  text.replace(text.find(used), used.size(), "%r#0, %s#0");
  KernelOp kernel = parse(text);
  EXPECT_FALSE(canLoop(*kernel.getBody().getOps<AxisOp>().begin()));
}
