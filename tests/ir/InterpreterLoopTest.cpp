// Loops over blocks, what they carry, and ordinary control flow.

#include "tests/ir/InterpreterTestSupport.h"

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
class InterpreterLoopTest : public IrTest {};

TEST_F(InterpreterLoopTest, SequentialBlocksStartAtTheLowerBound) {
  // t = t / 2 + sum(x[j]); the blocks of 3 from `from` are part of the meaning.
  const char *text = R"(
#n = affine_map<()[n] -> (n)>
#one = affine_map<()[n] -> (1)>
tile.kernel @decay(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %from: i64 {tile.name = "from", tile.mode = "in"},
    %y: memref<1xf32> {tile.name = "y", tile.mode = "out", tile.shape = #one},
    %blocks: memref<1xi64> {tile.name = "blocks", tile.mode = "out", tile.shape = #one})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  tile.parallel () {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %r:2 = tile.for sequential %j = "j" %from to %N by 3 iter_args(%t = %zero : f32, %n = %c0 : i64) {
      %v = tile.load %x at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j", 3>) -> tensor<3xf32, #tile.axes<"j">>
      %s = tile.reduce <add> %v over ["j"] : tensor<3xf32, #tile.axes<"j">> -> f32
      %h = arith.mulf %t, %half : f32
      %u = arith.addf %h, %s : f32
      %m = arith.addi %n, %c1 : i64
      tile.yield %u, %m : f32, i64
    }
    tile.store %r#0, %y at affine_map<() -> (0)>()[] : f32, memref<1xf32>, ()
    tile.store %r#1, %blocks at affine_map<() -> (0)>()[] : i64, memref<1xi64>, ()
  }
  tile.return
})";
  for (int64_t N : {0, 1, 2, 10, 11, 12})
    for (int64_t from : {0, 2, 20}) {
      SCOPED_TRACE(testing::Message() << from << " .. " << N);
      auto x = uniform<float>({N}, -2, 2);
      Tensor<float> y({1});
      Tensor<int64_t> blocks({1});
      double expected = 0;
      int64_t count = 0;
      for (int64_t start = from; start < N; start += 3, ++count) {
        double sum = 0;
        for (int64_t j = start; j < std::min(start + 3, N); ++j)
          sum += x(j);
        expected = expected / 2 + sum;
      }
      sweep(
          text, {{"N", N}}, {{}},
          {x.argument(), InterpreterArgument::scalar(from), y.argument(), blocks.argument()},
          [&] { y(0) = NAN, blocks(0) = -7; },
          [&] {
            ASSERT_NEAR(y(0), expected, 1e-5);
            ASSERT_EQ(blocks(0), count);
          });
    }
}

TEST_F(InterpreterLoopTest, CarriedValuesKeepWhatABlockDoesNotTouch) {
  // How often each carried value changes, by its axes: the blocks with an element for it.
  const char *text = R"(
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xi64, #tile.axes<"i">>
tile.kernel @touched(
    %rows: memref<?xi64> {tile.name = "rows", tile.mode = "out", tile.shape = #n},
    %all: memref<?xi64> {tile.name = "all", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"], consts = {N}} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %init = tile.broadcast %c0 : i64 to !i
    %r:2 = tile.for reassociable %j = "j" %c0 to %N iter_args(%row = %init : !i, %n = %c0 : i64) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j)[] : !tile.span<"i">, !tile.span<"j">
      tile.restrict affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%j)[%c2] : !tile.span<"j">
      %ones = tile.broadcast %c1 : i64 to !i
      %row2 = arith.addi %row, %ones : !i
      %n2 = arith.addi %n, %c1 : i64
      tile.yield %row2, %n2 : !i, i64
    }
    tile.store %r#0, %rows at #id(%i)[] : !i, memref<?xi64>, (!tile.span<"i">)
    tile.store %r#1, %all at #id(%i)[] : i64, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
})";
  const int64_t N = 9;
  Tensor<int64_t> rows({N}), all({N});
  for (int64_t size : {1, 2, 4, 16}) {
    auto blocksWith = [&](auto condition) {
      int64_t count = 0;
      for (int64_t start = 0; start < N; start += size) {
        bool hasElement = false;
        for (int64_t j = start; j < std::min(start + size, N); ++j)
          hasElement |= condition(j);
        count += hasElement;
      }
      return count;
    };
    sweep(
        text, {{"N", N}}, {{{"i", 1}, {"j", size}}, {{"i", 4}, {"j", size}}},
        {rows.argument(), all.argument()}, [&] { rows.data.assign(N, -7), all.data.assign(N, -7); },
        [&] {
          for (int64_t i = 0; i < N; ++i) {
            ASSERT_EQ(rows(i), blocksWith([&](int64_t j) { return j <= i && j >= 2; }));
            // The relation of i and j says nothing about a value without i.
            ASSERT_EQ(all(i), blocksWith([](int64_t j) { return j >= 2; }));
          }
        });
  }
}

TEST_F(InterpreterLoopTest, NestedLoopsWithBoundsFromData) {
  // y[b] = Σ_j Σ_k x[k] over j in lo[b]..hi[b], k in 0..j's end: bounds may be empty
  const char *text = R"(
#n = affine_map<()[n, b] -> (n)>
#b = affine_map<()[n, b] -> (b)>
#at = affine_map<()[s0] -> (s0)>
tile.kernel @nested(
    %x: memref<?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %lo: memref<?xi64> {tile.name = "lo", tile.mode = "in", tile.shape = #b},
    %hi: memref<?xi64> {tile.name = "hi", tile.mode = "in", tile.shape = #b},
    %y: memref<?xi32> {tile.name = "y", tile.mode = "out", tile.shape = #b})
    attributes {dims = ["N", "B"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %B = tile.dim "B"
  tile.parallel (%b = each "b" %c0 to %B) {
    %l = tile.load %lo at #at()[%b] <exact> : memref<?xi64>, () -> i64
    %h = tile.load %hi at #at()[%b] <exact> : memref<?xi64>, () -> i64
    %r = tile.for fold %j = "j" %l to %h iter_args(%sum = %zero : i32) {
      %init = tile.broadcast %zero : i32 to tensor<?xi32, #tile.axes<"j">>
      %rows = tile.for fold %k = "k" %c0 to %h iter_args(%part = %init : tensor<?xi32, #tile.axes<"j">>) {
        tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%j, %k)[] : !tile.span<"j">, !tile.span<"k">
        %v = tile.load %x at affine_map<(d0) -> (d0)>(%k)[] <exact> : memref<?xi32>, (!tile.span<"k">) -> tensor<?xi32, #tile.axes<"k">>
        %vb = tile.broadcast %v : tensor<?xi32, #tile.axes<"k">> to tensor<?x?xi32, #tile.axes<"j", "k">>
        %s = tile.reduce <add> %vb over ["k"] : tensor<?x?xi32, #tile.axes<"j", "k">> -> tensor<?xi32, #tile.axes<"j">>
        %t = arith.addi %part, %s : tensor<?xi32, #tile.axes<"j">>
        tile.yield %t : tensor<?xi32, #tile.axes<"j">>
      }
      %p = tile.reduce <add> %rows over ["j"] : tensor<?xi32, #tile.axes<"j">> -> i32
      %u = arith.addi %sum, %p : i32
      tile.yield %u : i32
    }
    tile.store %r, %y at #at()[%b] : i32, memref<?xi32>, ()
  }
  tile.return
})";
  const int64_t N = 12, B = 5;
  auto x = uniform<int32_t>({N}, -50, 50);
  Tensor<int64_t> lo({B}), hi({B});
  lo.data = {0, 3, 5, 7, 11};
  hi.data = {12, 10, 5, 2, 12};
  Tensor<int32_t> y({B});
  sweep(
      text, {{"N", N}, {"B", B}},
      {{{"j", 1}, {"k", 1}}, {{"j", 4}, {"k", 3}}, {{"j", 3}, {"k", 5}}, {}},
      {x.argument(), lo.argument(), hi.argument(), y.argument()}, [&] { y.data.assign(B, -77777); },
      [&] {
        for (int64_t b = 0; b < B; ++b) {
          int32_t expected = 0;
          for (int64_t j = lo(b); j < hi(b); ++j)
            for (int64_t k = 0; k <= j; ++k)
              expected += x(k);
          ASSERT_EQ(y(b), expected);
        }
      });
}

TEST_F(InterpreterLoopTest, ControlFlowWithTiles) {
  // Collatz steps by scf.while, a power by scf.for, and a tile chosen by scf.if.
  const char *text = R"(
#n = affine_map<()[n] -> (n)>
#at = affine_map<()[s0] -> (s0)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xi64, #tile.axes<"i">>
tile.kernel @flow(
    %x: memref<?xi64> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %which: i1 {tile.name = "which", tile.mode = "in"},
    %steps: memref<?xi64> {tile.name = "steps", tile.mode = "out", tile.shape = #n},
    %cubes: memref<?xi64> {tile.name = "cubes", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %v = tile.load %x at #id(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> !i
    %ones = tile.broadcast %c1 : i64 to !i
    %p = scf.for %r = %c0 to %c3 step %c1 iter_args(%t = %ones) -> (!i) : i64 {
      %u = arith.muli %t, %v : !i
      scf.yield %u : !i
    }
    %q = scf.if %which -> (!i) {
      scf.yield %p : !i
    } else {
      %neg = arith.subi %ones, %p : !i
      scf.yield %neg : !i
    }
    tile.store %q, %cubes at #id(%i)[] : !i, memref<?xi64>, (!tile.span<"i">)
    %first = tile.reduce <max> %v over ["i"] : !i -> i64
    %w:2 = scf.while (%m = %first, %n = %c0) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi sgt, %m, %c1 : i64
      scf.condition(%more) %m, %n : i64, i64
    } do {
    ^bb0(%m: i64, %n: i64):
      %odd = tile.rem %m, %c2 : i64
      %isOdd = arith.cmpi ne, %odd, %c0 : i64
      %next = scf.if %isOdd -> (i64) {
        %m3 = arith.muli %m, %c3 : i64
        %m4 = arith.addi %m3, %c1 : i64
        scf.yield %m4 : i64
      } else {
        %half = tile.div %m, %c2 : i64
        scf.yield %half : i64
      }
      %n2 = arith.addi %n, %c1 : i64
      scf.yield %next, %n2 : i64, i64
    }
    tile.store %w#1, %steps at #id(%i)[] : i64, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
})";
  const int64_t N = 10;
  auto x = uniform<int64_t>({N}, 1, 60);
  Tensor<int64_t> steps({N}), cubes({N});
  for (bool which : {false, true})
    for (int64_t size : {1, 4, 32})
      sweep(
          text, {{"N", N}}, {{{"i", size}}},
          {x.argument(), InterpreterArgument::scalar(which), steps.argument(), cubes.argument()},
          [&] { steps.data.assign(N, -7), cubes.data.assign(N, -7); },
          [&] {
            for (int64_t i = 0; i < N; ++i) {
              int64_t cube = x(i) * x(i) * x(i);
              ASSERT_EQ(cubes(i), which ? cube : 1 - cube);
              int64_t top = 0, count = 0;
              for (int64_t j = i / size * size; j < std::min(N, (i / size + 1) * size); ++j)
                top = std::max(top, x(j));
              for (; top > 1; ++count)
                top = top % 2 ? 3 * top + 1 : top / 2;
              ASSERT_EQ(steps(i), count);
            }
          });
}

TEST_F(InterpreterLoopTest, InOut) {
  const char *text = R"(
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xf64, #tile.axes<"i">>
tile.kernel @twice(%x: memref<?xf64> {tile.name = "x", tile.mode = "inout", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %v = tile.load %x at #id(%i)[] <exact> : memref<?xf64>, (!tile.span<"i">) -> !i
    %w = arith.addf %v, %v : !i
    tile.store %w, %x at #id(%i)[] : !i, memref<?xf64>, (!tile.span<"i">)
    %again = tile.load %x at #id(%i)[] <exact> : memref<?xf64>, (!tile.span<"i">) -> !i
    %u = arith.addf %again, %v : !i
    tile.store %u, %x at #id(%i)[] : !i, memref<?xf64>, (!tile.span<"i">)
  }
  tile.return
})";
  auto x = uniform<double>({7}, -2, 2);
  Tensor<double> y({7});
  sweep(
      text, {{"N", 7}}, {{{"i", 1}}, {{"i", 3}}, {{"i", 9}}}, {y.argument()},
      [&] { y.data = x.data; },
      [&] {
        for (int64_t i = 0; i < 7; ++i)
          ASSERT_EQ(y(i), x(i) + x(i) + x(i));
      });
}
} // namespace
