// RUN: tile-opt %s -tile-inline-producers | FileCheck %s

// An element that the data says, of rows less their greatest: it may lie outside, and the load of it stays padded. The
// row that the maximum is of lies inside, as is proved: its load is exact, so that nobody looks at each element. Its
// axis stands before the programs, as that of a kernel written by hand does.

// CHECK: tile.kernel @shifted.picked(
// CHECK: %[[N:.*]] = tile.axis
// CHECK: tile.parallel (%[[I:.*]] = tiles "i"
// CHECK-DAG: tile.load {{.*}}<pad> else {{.*}} -> tensor<16xf32, #tile.axes<"i">>
// CHECK-DAG: %[[ROW:.*]] = tile.load {{.*}}(%[[I]], %[[N]]) [] <exact>
// CHECK: tile.reduce <max> %[[ROW]]
module {
  tile.graph @g(%arg0: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: tensor<?xi32> {tile.name = "target", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}) -> (tensor<?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.call @shifted(%arg0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = tile.call @picked(%0, %arg1) {tile.values = ["y"]} : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<?xf32>
    tile.return %1 : tensor<?xf32>
  }
  tile.kernel @shifted(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %c0_i64 = arith.constant 0 : i64
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %2 = tile.axis %c0_i64 to %1 : <"N">
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 16) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"N">) -> tensor<16x?xf32, #tile.axes<"i", "N">>
      %4 = tile.reduce <max> %3 over ["N"] : tensor<16x?xf32, #tile.axes<"i", "N">> -> tensor<16xf32, #tile.axes<"i">>
      %5 = tile.broadcast %4 : tensor<16xf32, #tile.axes<"i">> to tensor<16x?xf32, #tile.axes<"i", "N">>
      %6 = arith.subf %3, %5 : tensor<16x?xf32, #tile.axes<"i", "N">>
      tile.store %6, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] : tensor<16x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"N">)
    }
    tile.return
  }
  tile.kernel @picked(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "p", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "target", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "V"]} {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %0 = tile.dim "M"
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 16) {
      %1 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 16>) -> tensor<16xi32, #tile.axes<"i">>
      %2 = arith.extsi %1 : tensor<16xi32, #tile.axes<"i">> to tensor<16xi64, #tile.axes<"i">>
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %2) [] <pad> else %cst : memref<?x?xf32>, (!tile.span<"i", 16>, tensor<16xi64, #tile.axes<"i">>), f32 -> tensor<16xf32, #tile.axes<"i">>
      tile.store %3, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<16xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 16>)
    }
    tile.return
  }
}
