// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Elements of rows that have one each are neighbours: lanes go from row to row.

// CHECK-LABEL: define internal void @divided.body(
// CHECK-NOT: masked.gather
// CHECK-NOT: masked.scatter
// CHECK: load <16 x float>
// CHECK: store <16 x float>
// CHECK-NOT: masked.gather
// CHECK: ret void
tile.kernel @divided(%arg0: memref<?x1xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x1xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], tile.bound = {N = 1 : i64}} {
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %0 = tile.dim "M"
  %1 = tile.axis %c0_i64 to %c1_i64 : <"N", 1>
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 64) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] <exact> : memref<?x1xf32>, (!tile.span<"i", 64>, !tile.span<"N", 1>) -> tensor<64x1xf32, #tile.axes<"i", "N">>
    %3 = tile.reduce <add> %2 over ["N"] : tensor<64x1xf32, #tile.axes<"i", "N">> -> tensor<64xf32, #tile.axes<"i">>
    %4 = tile.broadcast %3 : tensor<64xf32, #tile.axes<"i">> to tensor<64x1xf32, #tile.axes<"i", "N">>
    %5 = arith.divf %2, %4 : tensor<64x1xf32, #tile.axes<"i", "N">>
    tile.store %5, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] : tensor<64x1xf32, #tile.axes<"i", "N">>, memref<?x1xf32>, (!tile.span<"i", 64>, !tile.span<"N", 1>)
  }
  tile.return
}
