// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Reductions of the same elements share a nest: each is read once. Four of a column at a time, and what is
// left one by one; where columns are long, the same in short chains.

// CHECK-LABEL: define internal void @moments.body(
// CHECK-COUNT-10: load <16 x float>, {{.*}} !invariant.load
// CHECK-NOT: load <16 x float>, {{.*}} !invariant.load
// CHECK: ret void
tile.kernel @moments(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "N"
  %1 = tile.dim "M"
  %2 = tile.axis %c0_i64 to %1 : <"M">
  tile.parallel (%arg3 = tiles "j" %c0_i64 to %0 by 16) {
    %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"M">, !tile.span<"j", 16>) -> tensor<?x16xf32, #tile.axes<"M", "j">>
    %4 = tile.reduce <add> %3 over ["M"] : tensor<?x16xf32, #tile.axes<"M", "j">> -> tensor<16xf32, #tile.axes<"j">>
    tile.store %4, %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<16xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j", 16>)
    %5 = arith.mulf %3, %3 : tensor<?x16xf32, #tile.axes<"M", "j">>
    %6 = tile.reduce <add> %5 over ["M"] : tensor<?x16xf32, #tile.axes<"M", "j">> -> tensor<16xf32, #tile.axes<"j">>
    tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<16xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j", 16>)
  }
  tile.return
}

// -----

// What needs the first one's result comes after it. Both read the tensor, or a copy that is made where its rows
// collide.

// CHECK-LABEL: define internal void @follows.body(
// CHECK: load <16 x float>, {{.*}} !invariant.load
// CHECK: select i1 %{{.*}}, ptr %{{.*}}, ptr
// CHECK-NOT: !invariant.load
// CHECK: ret void
tile.kernel @follows(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "N"
  %1 = tile.dim "M"
  %2 = tile.axis %c0_i64 to %1 : <"M">
  tile.parallel (%arg2 = tiles "j" %c0_i64 to %0 by 16) {
    %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%2, %arg2) [] <exact> : memref<?x?xf32>, (!tile.span<"M">, !tile.span<"j", 16>) -> tensor<?x16xf32, #tile.axes<"M", "j">>
    %4 = tile.reduce <add> %3 over ["M"] : tensor<?x16xf32, #tile.axes<"M", "j">> -> tensor<16xf32, #tile.axes<"j">>
    %5 = tile.broadcast %4 : tensor<16xf32, #tile.axes<"j">> to tensor<?x16xf32, #tile.axes<"M", "j">>
    %6 = arith.mulf %3, %5 : tensor<?x16xf32, #tile.axes<"M", "j">>
    %7 = tile.reduce <add> %6 over ["M"] : tensor<?x16xf32, #tile.axes<"M", "j">> -> tensor<16xf32, #tile.axes<"j">>
    tile.store %7, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<16xf32, #tile.axes<"j">>, memref<?xf32>, (!tile.span<"j", 16>)
  }
  tile.return
}
