// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Softmax of columns. What is kept lies as what it is computed of: lanes are neighbours in memory
// in all nests, and nothing is gathered.

// CHECK-LABEL: define internal void @columns.body(
// CHECK-NOT: masked.gather
// CHECK-NOT: masked.scatter
// CHECK: ret void
tile.kernel @columns(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "N"
  %1 = tile.dim "M"
  %2 = tile.axis %c0_i64 to %1 : <"j">
  tile.parallel (%i = tiles "i" %c0_i64 to %0 by 64) {
    %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%2, %i) [] <exact> : memref<?x?xf32>, (!tile.span<"j">, !tile.span<"i", 64>) -> tensor<?x64xf32, #tile.axes<"j", "i">>
    %4 = tile.broadcast %3 : tensor<?x64xf32, #tile.axes<"j", "i">> to tensor<64x?xf32, #tile.axes<"i", "j">>
    %5 = tile.reduce <max> %4 over ["j"] : tensor<64x?xf32, #tile.axes<"i", "j">> -> tensor<64xf32, #tile.axes<"i">>
    %6 = tile.broadcast %5 : tensor<64xf32, #tile.axes<"i">> to tensor<64x?xf32, #tile.axes<"i", "j">>
    %7 = arith.subf %4, %6 : tensor<64x?xf32, #tile.axes<"i", "j">>
    %8 = math.exp %7 : tensor<64x?xf32, #tile.axes<"i", "j">>
    %9 = tile.reduce <add> %8 over ["j"] : tensor<64x?xf32, #tile.axes<"i", "j">> -> tensor<64xf32, #tile.axes<"i">>
    %10 = tile.broadcast %9 : tensor<64xf32, #tile.axes<"i">> to tensor<64x?xf32, #tile.axes<"i", "j">>
    %11 = arith.divf %8, %10 : tensor<64x?xf32, #tile.axes<"i", "j">>
    tile.store %11, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%2, %i) [] : tensor<64x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"j">, !tile.span<"i", 64>)
  }
  tile.return
}
