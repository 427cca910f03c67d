// RUN: tile-opt %s -tile-inline-producers | FileCheck %s

// A row of numbers that are scaled, divided by their sum, and stored turned around: one kernel, in which each row is
// there once. `j` was a binder of blocks in @turned; the sum needs the row, so it is a whole axis now.

// CHECK-LABEL: tile.graph @turned_norm
// CHECK: %[[Y:.*]] = tile.call @scaled.norm.turned(%arg1, %arg0, %arg2)
// CHECK-NEXT: tile.return %[[Y]]
// CHECK: tile.kernel @scaled.norm.turned(
// CHECK-SAME: tile.name = "b"
// CHECK-SAME: tile.name = "x"
// CHECK-SAME: tile.name = "s"
// CHECK-SAME: tile.mode = "out", tile.name = "y"
// CHECK: %[[J:.*]] = tile.axis
// CHECK-NEXT: tile.parallel (%[[I:.*]] = tiles "i"
// CHECK: %[[X:.*]] = tile.load {{.*}}(%[[I]], %[[J]])
// CHECK: %[[T:.*]] = arith.mulf %{{.*}}, %[[X]]
// CHECK-NEXT: tile.reduce <add> %[[T]] over ["j"]
// CHECK: arith.divf %[[T]]
// CHECK-NOT: tile.load {{.*}}(%[[I]], %[[J]])
// CHECK: tile.store {{.*}}(%[[J]], %[[I]])

module {
  tile.graph @turned_norm(%arg0: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: tensor<?xf32> {tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}, %arg2: f32 {tile.name = "s", tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.call @scaled(%arg0, %arg2) : (tensor<?x?xf32>, f32) -> tensor<?x?xf32>
    %1 = tile.call @norm(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = tile.call @turned(%1, %arg1) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    tile.return %2 : tensor<?x?xf32>
  }
  tile.kernel @scaled(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: f32 {tile.mode = "in", tile.name = "s", tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0, %arg4 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %3 = tile.broadcast %arg1 : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %4 = arith.mulf %3, %2 : tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %4, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }
  tile.kernel @norm(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %2 = tile.axis %c0_i64 to %1 : <"N">
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64_0 to %0) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %5 = tile.reduce <add> %4 over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
      %6 = tile.broadcast %5 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
      %7 = arith.divf %3, %6 : tensor<?x?xf32, #tile.axes<"i", "N">>
      tile.store %7, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %2) [] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    }
    tile.return
  }
  tile.kernel @turned(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0, %arg4 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %3 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
      %4 = tile.broadcast %3 : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "j">>
      %5 = arith.addf %2, %4 : tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %5, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg3) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"j">, !tile.span<"i">)
    }
    tile.return
  }
}
