// RUN: tile-opt %s -split-input-file -tile-gpu-materialize-axes | FileCheck %s

// Where each product is added to one sum only, a dot of a whole axis is a sum of products, made where its operands are
// loaded: of vectors, of rows of a matrix with one vector, of vectors side by side.

// CHECK-LABEL: tile.kernel @rows(
// CHECK-NOT: tile.dot
// CHECK: [[A:%[0-9]+]] = tile.load %arg0
// CHECK: [[V:%[0-9]+]] = tile.load %arg1
// CHECK: [[X:%[0-9]+]] = arith.extf [[A]] : tensor<4x64xbf16, {{.*}}> to tensor<4x64xf32
// CHECK: [[Y:%[0-9]+]] = arith.extf [[V]] : tensor<64xbf16, {{.*}}> to tensor<64xf32
// CHECK: [[B:%[0-9]+]] = tile.broadcast [[Y]]
// CHECK: [[P:%[0-9]+]] = arith.mulf [[X]], [[B]]
// CHECK: [[S:%[0-9]+]] = tile.reduce <add> [[P]] over ["k"]
// CHECK: arith.addf {{.*}}, [[S]]
// CHECK-NOT: tile.dot
// CHECK: tile.return
!ik = tensor<4x64xbf16, #tile.axes<"i", "k">>
!k = tensor<64xbf16, #tile.axes<"k">>
!i = tensor<4xf32, #tile.axes<"i">>
tile.kernel @rows(%arg0: memref<?x64xbf16> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0] -> (s0, 64)>}, %arg1: memref<64xbf16> {tile.mode = "in", tile.name = "v", tile.shape = affine_map<()[s0] -> (64)>}, %arg2: memref<?xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0] -> (s0)>}, %arg3: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>}) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %m = tile.dim "M"
  %k = tile.axis %c0 to %c64 : !tile.span<"k", 64>
  tile.parallel (%i = tiles "i" %c0 to %m by 4) {
    %b = tile.load %arg2 at affine_map<(d0) -> (d0)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 4>) -> !i
    %a = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %k) [] <exact> : memref<?x64xbf16>, (!tile.span<"i", 4>, !tile.span<"k", 64>) -> !ik
    %v = tile.load %arg1 at affine_map<(d0) -> (d0)>(%k) [] <exact> : memref<64xbf16>, (!tile.span<"k", 64>) -> !k
    %y = tile.dot %a, %v over "k" acc %b : !ik, !k -> !i
    tile.store %y, %arg3 at affine_map<(d0) -> (d0)>(%i) [] : !i, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

// A number of integers; and what it is added to is nothing.
// CHECK-LABEL: tile.kernel @number(
// CHECK: [[P:%[0-9]+]] = arith.muli
// CHECK: [[S:%[0-9]+]] = tile.reduce <add> [[P]] over ["k"] : tensor<64xi32, #tile.axes<"k">> -> i32
// CHECK: tile.store [[S]]
tile.kernel @number(%arg0: memref<64xi8> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<() -> (64)>}, %arg1: memref<1xi32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<() -> (1)>}) attributes {dims = []} {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %k = tile.axis %c0 to %c64 : !tile.span<"k", 64>
  tile.parallel (%i = each "i" %c0 to %c1) {
    %x = tile.load %arg0 at affine_map<(d0) -> (d0)>(%k) [] <exact> : memref<64xi8>, (!tile.span<"k", 64>) -> tensor<64xi8, #tile.axes<"k">>
    %dot = tile.dot %x, %x over "k" acc %zero : tensor<64xi8, #tile.axes<"k">>, tensor<64xi8, #tile.axes<"k">> -> i32
    tile.store %dot, %arg1 at affine_map<()[s0] -> (s0)>() [%i] : i32, memref<1xi32>, ()
  }
  tile.return
}

// -----

// A product of matrices stays one, and so does what a loop takes block by block.
// CHECK-LABEL: tile.kernel @others(
// CHECK: tile.dot
// CHECK: tile.dot
!ik = tensor<4x32xf32, #tile.axes<"i", "k">>
!jk = tensor<4x32xf32, #tile.axes<"j", "k">>
!ij = tensor<4x4xf32, #tile.axes<"i", "j">>
!i = tensor<4xf32, #tile.axes<"i">>
tile.kernel @others(%arg0: memref<?x64xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0] -> (s0, 64)>}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "c", tile.shape = affine_map<()[s0] -> (s0, s0)>}) attributes {dims = ["M"]} {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %m = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %m by 4, %j = tiles "j" %c0 to %m by 4) {
    %none = tile.broadcast %zero : f32 to !ij
    %row = tile.broadcast %zero : f32 to !i
    %sum:2 = tile.for fold %k = "k" %c0 to %c64 by 32 iter_args(%acc = %none : !ij, %of = %row : !i) {
      %a = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %k) [] <exact> : memref<?x64xf32>, (!tile.span<"i", 4>, !tile.span<"k", 32>) -> !ik
      %b = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%j, %k) [] <exact> : memref<?x64xf32>, (!tile.span<"j", 4>, !tile.span<"k", 32>) -> !jk
      %next = tile.dot %a, %b over "k" acc %acc : !ik, !jk -> !ij
      %square = tile.dot %a, %a over "k" acc %of : !ik, !ik -> !i
      tile.yield %next, %square : !ij, !i
    }
    %squares = tile.broadcast %sum#1 : !i to !ij
    %all = arith.addf %sum#0, %squares : !ij
    tile.store %all, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : !ij, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 4>)
  }
  tile.return
}

// -----

// A dot beside a product of matrices along the same axis has part in the loop of that.
// CHECK-LABEL: tile.kernel @beside(
// CHECK: tile.dot
// CHECK: tile.dot
!ik = tensor<4x64xf32, #tile.axes<"i", "k">>
!jk = tensor<4x64xf32, #tile.axes<"j", "k">>
!ij = tensor<4x4xf32, #tile.axes<"i", "j">>
!i = tensor<4xf32, #tile.axes<"i">>
tile.kernel @beside(%arg0: memref<?x64xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0] -> (s0, 64)>}, %arg1: memref<?x?xf32> {tile.mode = "out", tile.name = "c", tile.shape = affine_map<()[s0] -> (s0, s0)>}) attributes {dims = ["M"]} {
  %zero = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %m = tile.dim "M"
  %k = tile.axis %c0 to %c64 : !tile.span<"k", 64>
  tile.parallel (%i = tiles "i" %c0 to %m by 4, %j = tiles "j" %c0 to %m by 4) {
    %none = tile.broadcast %zero : f32 to !ij
    %row = tile.broadcast %zero : f32 to !i
    %a = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%i, %k) [] <exact> : memref<?x64xf32>, (!tile.span<"i", 4>, !tile.span<"k", 64>) -> !ik
    %b = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%j, %k) [] <exact> : memref<?x64xf32>, (!tile.span<"j", 4>, !tile.span<"k", 64>) -> !jk
    %product = tile.dot %a, %b over "k" acc %none : !ik, !jk -> !ij
    %square = tile.dot %a, %a over "k" acc %row : !ik, !ik -> !i
    %squares = tile.broadcast %square : !i to !ij
    %all = arith.addf %product, %squares : !ij
    tile.store %all, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : !ij, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 4>)
  }
  tile.return
}
