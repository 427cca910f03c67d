// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Stores of the same elements share a nest: what both are computed of is read and multiplied once, in whole vectors
// past the caches and not, and for what is left.

// CHECK-LABEL: define internal void @both.body(
// CHECK-COUNT-2: load <16 x float>, {{.*}} !invariant.load
// CHECK-NOT: load <16 x float>, {{.*}} !invariant.load
// CHECK: ret void
tile.kernel @both(%x: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[n] -> (n)>}, %y: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[n] -> (n)>}, %z: memref<?xf32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[n] -> (n)>}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    %p = arith.mulf %t, %t : tensor<64xf32, #tile.axes<"i">>
    tile.store %p, %y at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
    %s = arith.addf %p, %t : tensor<64xf32, #tile.axes<"i">>
    tile.store %s, %z at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}

// -----

// What is stored over something that was read between the two has a nest of its own.

// CHECK-LABEL: define internal void @between.body(
// CHECK-COUNT-4: load <16 x float>, {{.*}} !invariant.load
// CHECK-NOT: load <16 x float>, {{.*}} !invariant.load
// CHECK: ret void
tile.kernel @between(%x: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[n] -> (n)>}, %y: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[n] -> (n)>}, %z: memref<?xf32> {tile.mode = "inout", tile.name = "z", tile.shape = affine_map<()[n] -> (n)>}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    tile.store %t, %y at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
    %o = tile.load %z at affine_map<(d0) -> (d0)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    %s = arith.addf %o, %t : tensor<64xf32, #tile.axes<"i">>
    tile.store %s, %z at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
