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

// -----

// What the second one needs is looked at once, however often it is used.

// CHECK-LABEL: define internal void @powers.body(
// CHECK-COUNT-2: load <16 x float>, {{.*}} !invariant.load
// CHECK-NOT: load <16 x float>, {{.*}} !invariant.load
// CHECK: ret void
tile.kernel @powers(%x: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[n] -> (n)>}, %y: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[n] -> (n)>}, %z: memref<?xf32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[n] -> (n)>}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    tile.store %t, %y at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
    %a0 = arith.addf %t, %t : tensor<64xf32, #tile.axes<"i">>
    %a1 = arith.mulf %a0, %a0 : tensor<64xf32, #tile.axes<"i">>
    %a2 = arith.mulf %a1, %a1 : tensor<64xf32, #tile.axes<"i">>
    %a3 = arith.mulf %a2, %a2 : tensor<64xf32, #tile.axes<"i">>
    %a4 = arith.mulf %a3, %a3 : tensor<64xf32, #tile.axes<"i">>
    %a5 = arith.mulf %a4, %a4 : tensor<64xf32, #tile.axes<"i">>
    %a6 = arith.mulf %a5, %a5 : tensor<64xf32, #tile.axes<"i">>
    %a7 = arith.mulf %a6, %a6 : tensor<64xf32, #tile.axes<"i">>
    %a8 = arith.mulf %a7, %a7 : tensor<64xf32, #tile.axes<"i">>
    %a9 = arith.mulf %a8, %a8 : tensor<64xf32, #tile.axes<"i">>
    %a10 = arith.mulf %a9, %a9 : tensor<64xf32, #tile.axes<"i">>
    %a11 = arith.mulf %a10, %a10 : tensor<64xf32, #tile.axes<"i">>
    %a12 = arith.mulf %a11, %a11 : tensor<64xf32, #tile.axes<"i">>
    %a13 = arith.mulf %a12, %a12 : tensor<64xf32, #tile.axes<"i">>
    %a14 = arith.mulf %a13, %a13 : tensor<64xf32, #tile.axes<"i">>
    %a15 = arith.mulf %a14, %a14 : tensor<64xf32, #tile.axes<"i">>
    %a16 = arith.mulf %a15, %a15 : tensor<64xf32, #tile.axes<"i">>
    %a17 = arith.mulf %a16, %a16 : tensor<64xf32, #tile.axes<"i">>
    %a18 = arith.mulf %a17, %a17 : tensor<64xf32, #tile.axes<"i">>
    %a19 = arith.mulf %a18, %a18 : tensor<64xf32, #tile.axes<"i">>
    %a20 = arith.mulf %a19, %a19 : tensor<64xf32, #tile.axes<"i">>
    %a21 = arith.mulf %a20, %a20 : tensor<64xf32, #tile.axes<"i">>
    %a22 = arith.mulf %a21, %a21 : tensor<64xf32, #tile.axes<"i">>
    %a23 = arith.mulf %a22, %a22 : tensor<64xf32, #tile.axes<"i">>
    %a24 = arith.mulf %a23, %a23 : tensor<64xf32, #tile.axes<"i">>
    %a25 = arith.mulf %a24, %a24 : tensor<64xf32, #tile.axes<"i">>
    %a26 = arith.mulf %a25, %a25 : tensor<64xf32, #tile.axes<"i">>
    %a27 = arith.mulf %a26, %a26 : tensor<64xf32, #tile.axes<"i">>
    %a28 = arith.mulf %a27, %a27 : tensor<64xf32, #tile.axes<"i">>
    %a29 = arith.mulf %a28, %a28 : tensor<64xf32, #tile.axes<"i">>
    %a30 = arith.mulf %a29, %a29 : tensor<64xf32, #tile.axes<"i">>
    %a31 = arith.mulf %a30, %a30 : tensor<64xf32, #tile.axes<"i">>
    %a32 = arith.mulf %a31, %a31 : tensor<64xf32, #tile.axes<"i">>
    %a33 = arith.mulf %a32, %a32 : tensor<64xf32, #tile.axes<"i">>
    %a34 = arith.mulf %a33, %a33 : tensor<64xf32, #tile.axes<"i">>
    %a35 = arith.mulf %a34, %a34 : tensor<64xf32, #tile.axes<"i">>
    %a36 = arith.mulf %a35, %a35 : tensor<64xf32, #tile.axes<"i">>
    %a37 = arith.mulf %a36, %a36 : tensor<64xf32, #tile.axes<"i">>
    %a38 = arith.mulf %a37, %a37 : tensor<64xf32, #tile.axes<"i">>
    %a39 = arith.mulf %a38, %a38 : tensor<64xf32, #tile.axes<"i">>
    %a40 = arith.mulf %a39, %a39 : tensor<64xf32, #tile.axes<"i">>
    %a41 = arith.mulf %a40, %a40 : tensor<64xf32, #tile.axes<"i">>
    %a42 = arith.mulf %a41, %a41 : tensor<64xf32, #tile.axes<"i">>
    %a43 = arith.mulf %a42, %a42 : tensor<64xf32, #tile.axes<"i">>
    %a44 = arith.mulf %a43, %a43 : tensor<64xf32, #tile.axes<"i">>
    %a45 = arith.mulf %a44, %a44 : tensor<64xf32, #tile.axes<"i">>
    %a46 = arith.mulf %a45, %a45 : tensor<64xf32, #tile.axes<"i">>
    %a47 = arith.mulf %a46, %a46 : tensor<64xf32, #tile.axes<"i">>
    %a48 = arith.mulf %a47, %a47 : tensor<64xf32, #tile.axes<"i">>
    %a49 = arith.mulf %a48, %a48 : tensor<64xf32, #tile.axes<"i">>
    %a50 = arith.mulf %a49, %a49 : tensor<64xf32, #tile.axes<"i">>
    %a51 = arith.mulf %a50, %a50 : tensor<64xf32, #tile.axes<"i">>
    %a52 = arith.mulf %a51, %a51 : tensor<64xf32, #tile.axes<"i">>
    %a53 = arith.mulf %a52, %a52 : tensor<64xf32, #tile.axes<"i">>
    %a54 = arith.mulf %a53, %a53 : tensor<64xf32, #tile.axes<"i">>
    %a55 = arith.mulf %a54, %a54 : tensor<64xf32, #tile.axes<"i">>
    %a56 = arith.mulf %a55, %a55 : tensor<64xf32, #tile.axes<"i">>
    %a57 = arith.mulf %a56, %a56 : tensor<64xf32, #tile.axes<"i">>
    %a58 = arith.mulf %a57, %a57 : tensor<64xf32, #tile.axes<"i">>
    %a59 = arith.mulf %a58, %a58 : tensor<64xf32, #tile.axes<"i">>
    %a60 = arith.mulf %a59, %a59 : tensor<64xf32, #tile.axes<"i">>
    %a61 = arith.mulf %a60, %a60 : tensor<64xf32, #tile.axes<"i">>
    %a62 = arith.mulf %a61, %a61 : tensor<64xf32, #tile.axes<"i">>
    %a63 = arith.mulf %a62, %a62 : tensor<64xf32, #tile.axes<"i">>
    tile.store %a63, %z at affine_map<(d0) -> (d0)>(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
