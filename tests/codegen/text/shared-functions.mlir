// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | FileCheck %s

// What functions that take long make of a row of numbers is shared out by all threads, and moved to where each warp wants it.

// CHECK-DAG: #[[OWN:.*]] = #tile_gpu.layout<["j"], register = {{\[\[}}1]], lane = {{\[\[}}2], [4], [8], [16], [32]], warp = {{\[\[}}64], [128]], repeat = [1]>
// CHECK-LABEL: tile.kernel @costly_bias(
// CHECK: math.sin %{{.*}} : tensor<256xf32, #[[OWN]]>
// CHECK-NEXT: tile_gpu.convert %{{.*}} : tensor<256xf32, #[[OWN]]> to
tile.kernel @costly_bias(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 8 : i64, j = 256 : i64, warps = 4 : i64}, tile.divisors = {N = 16 : i64}} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 8, %arg4 = tiles "j" %c0_i64 to %1 by 256) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>) -> tensor<8x256xf32, #tile.axes<"i", "j">>
    %3 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg4) [] <exact> : memref<?xf32>, (!tile.span<"j", 256>) -> tensor<256xf32, #tile.axes<"j">>
    %4 = math.tanh %3 : tensor<256xf32, #tile.axes<"j">>
    %5 = math.erf %3 : tensor<256xf32, #tile.axes<"j">>
    %6 = arith.addf %4, %5 : tensor<256xf32, #tile.axes<"j">>
    %7 = math.sin %6 : tensor<256xf32, #tile.axes<"j">>
    %8 = tile.broadcast %7 : tensor<256xf32, #tile.axes<"j">> to tensor<8x256xf32, #tile.axes<"i", "j">>
    %9 = arith.addf %2, %8 : tensor<8x256xf32, #tile.axes<"i", "j">>
    tile.store %9, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<8x256xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>)
  }
  tile.return
}

// -----

// Sums that a loop carries lie as what is added to them: nothing moves in a round, and threads fold what they have themselves.

// CHECK-LABEL: tile.kernel @total(
// CHECK-NOT: tile_gpu.convert
// CHECK: tile.yield
// CHECK-NOT: tile_gpu.convert
// CHECK: tile.return
tile.kernel @total(%arg0: memref<?x4x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, 4, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "t", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["A", "N"], schedule = {a = 1 : i64, j = 2048 : i64, warps = 4 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i64 = arith.constant 4 : i64
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "A"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = tiles "a" %c0_i64 to %0 by 1) {
    %2 = tile.axis %c0_i64 to %c4_i64 : <"r", 4>
    %3 = tile.broadcast %cst : f32 to tensor<1x4xf32, #tile.axes<"a", "r">>
    %4 = tile.for fold %arg3 = "j" %c0_i64 to %1 by 2048 iter_args(%arg4 = %3 : tensor<1x4xf32, #tile.axes<"a", "r">>) {
      %6 = tile.load %arg0 at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%arg2, %2, %arg3) [] <exact> : memref<?x4x?xf32>, (!tile.span<"a", 1>, !tile.span<"r", 4>, !tile.span<"j", 2048>) -> tensor<1x4x2048xf32, #tile.axes<"a", "r", "j">>
      %7 = tile.reduce <add> %6 over ["j"] : tensor<1x4x2048xf32, #tile.axes<"a", "r", "j">> -> tensor<1x4xf32, #tile.axes<"a", "r">>
      %8 = arith.addf %arg4, %7 : tensor<1x4xf32, #tile.axes<"a", "r">>
      tile.yield %8 : tensor<1x4xf32, #tile.axes<"a", "r">>
    }
    %5 = tile.reduce <add> %4 over ["r"] : tensor<1x4xf32, #tile.axes<"a", "r">> -> tensor<1xf32, #tile.axes<"a">>
    tile.store %5, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<1xf32, #tile.axes<"a">>, memref<?xf32>, (!tile.span<"a", 1>)
  }
  tile.return
}
