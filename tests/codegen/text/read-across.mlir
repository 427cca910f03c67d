// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// A block that is read across its rows is transposed in registers, sixteen rows at a time, into a copy
// whose rows are vectors of what is stored. Rows that are part of the tensor's go past the caches
// earlier than whole ones.

// CHECK-LABEL: define internal void @transposed.body(
// CHECK: %[[PART:.*]] = icmp sgt i64 %{{.*}}, 64
// CHECK: select i1 %[[PART]], i64 33554432, i64 67108864
// CHECK-NOT: masked.gather
// CHECK-COUNT-64: shufflevector <16 x float>
// CHECK-NOT: masked.gather
// CHECK: ret void
tile.kernel @transposed(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 64, %arg3 = tiles "j" %c0_i64 to %1 by 64) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d1, d0)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>) -> tensor<64x64xf32, #tile.axes<"j", "i">>
    tile.store %2, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<64x64xf32, #tile.axes<"j", "i">>, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// Of a block that is short one way nothing is copied.

// CHECK-LABEL: define internal void @narrow.body(
// CHECK-NOT: i64 33554432
// CHECK-NOT: load <16 x float>
// CHECK: ret void
tile.kernel @narrow(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 4, %arg3 = tiles "j" %c0_i64 to %1 by 64) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d1, d0)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>) -> tensor<64x4xf32, #tile.axes<"j", "i">>
    tile.store %2, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<64x4xf32, #tile.axes<"j", "i">>, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// What is stored as it lies, too, is read once more for that, where it is.

// CHECK-LABEL: define internal void @both.body(
// CHECK-COUNT-2: i64 33554432, i64 67108864
// CHECK-NOT: masked.gather
// CHECK-COUNT-64: shufflevector <16 x float>
// CHECK-NOT: masked.gather
// CHECK: load <16 x float>
// CHECK-NOT: masked.gather
// CHECK: ret void
tile.kernel @both(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0, s1] -> (s1, s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0_i64 to %0 by 64, %j = tiles "j" %c0_i64 to %1 by 64) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d1, d0)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>) -> tensor<64x64xf32, #tile.axes<"j", "i">>
    tile.store %2, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : tensor<64x64xf32, #tile.axes<"j", "i">>, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
    tile.store %2, %arg2 at affine_map<(d0, d1) -> (d1, d0)>(%i, %j) [] : tensor<64x64xf32, #tile.axes<"j", "i">>, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}
