// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Functions of a factor with few columns, as `tile.likely` tells: lanes go along its rows.

// CHECK-LABEL: define internal void @short.body(
// CHECK: masked.gather
// CHECK: ret void
tile.kernel @short(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "K"], tile.likely = {K = 2 : i64}} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "K"
  %2 = tile.axis %c0_i64 to %1 : <"k">
  tile.parallel (%i = tiles "i" %c0_i64 to %0 by 64) {
    %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"k">) -> tensor<64x?xf32, #tile.axes<"i", "k">>
    %4 = math.tanh %3 : tensor<64x?xf32, #tile.axes<"i", "k">>
    %5 = math.erf %4 : tensor<64x?xf32, #tile.axes<"i", "k">>
    %6 = tile.reduce <add> %5 over ["k"] : tensor<64x?xf32, #tile.axes<"i", "k">> -> tensor<64xf32, #tile.axes<"i">>
    tile.store %6, %arg1 at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}

// -----

// Nothing is known of its columns: lanes go along them.

// CHECK-LABEL: define internal void @any.body(
// CHECK-NOT: masked.gather
// CHECK: ret void
tile.kernel @any(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "K"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "K"
  %2 = tile.axis %c0_i64 to %1 : <"k">
  tile.parallel (%i = tiles "i" %c0_i64 to %0 by 64) {
    %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"k">) -> tensor<64x?xf32, #tile.axes<"i", "k">>
    %4 = math.tanh %3 : tensor<64x?xf32, #tile.axes<"i", "k">>
    %5 = math.erf %4 : tensor<64x?xf32, #tile.axes<"i", "k">>
    %6 = tile.reduce <add> %5 over ["k"] : tensor<64x?xf32, #tile.axes<"i", "k">> -> tensor<64xf32, #tile.axes<"i">>
    tile.store %6, %arg1 at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}

// -----

// Blocks of 64 columns, of which there are four, as the end of the loop tells.

// CHECK-LABEL: define internal void @ended.body(
// CHECK: masked.gather
// CHECK: ret void
tile.kernel @ended(%arg0: memref<?x4xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0] -> (s0, 4)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"]} {
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %c4_i64 = arith.constant 4 : i64
  %0 = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0_i64 to %0 by 64) {
    %1 = tile.broadcast %cst : f32 to tensor<64xf32, #tile.axes<"i">>
    %2 = tile.for fold %k = "k" %c0_i64 to %c4_i64 by 64 iter_args(%acc = %1 : tensor<64xf32, #tile.axes<"i">>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %k) [] <exact> : memref<?x4xf32>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> tensor<64x64xf32, #tile.axes<"i", "k">>
      %4 = math.tanh %3 : tensor<64x64xf32, #tile.axes<"i", "k">>
      %5 = math.erf %4 : tensor<64x64xf32, #tile.axes<"i", "k">>
      %6 = tile.reduce <add> %5 over ["k"] : tensor<64x64xf32, #tile.axes<"i", "k">> -> tensor<64xf32, #tile.axes<"i">>
      %7 = arith.addf %acc, %6 : tensor<64xf32, #tile.axes<"i">>
      tile.yield %7 : tensor<64xf32, #tile.axes<"i">>
    }
    tile.store %2, %arg1 at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
