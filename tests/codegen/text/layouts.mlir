// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | FileCheck %s
// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | tile-opt -split-input-file | FileCheck %s

// A row for each warp and 16 bytes for each access; what has fewer axes is the projection, and
// nothing is converted.

// CHECK-DAG: #[[ROWS:.*]] = #tile_gpu.layout<["i", "n"], register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]], repeat = [1, 2]>
// CHECK-DAG: #[[LEFT:.*]] = #tile_gpu.layout<["i"], register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], repeat = [1]>
// CHECK-LABEL: tile.kernel @softmax(
// CHECK-SAME: tile_gpu.warps = 4
#shape = affine_map<()[m] -> (m, 256)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @softmax(
    %x: memref<?x256xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x256xf32> {tile.name = "y", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M"], schedule = {warps = 4}} {
  %c0 = arith.constant 0 : i64
  %c256 = arith.constant 256 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c256 : !tile.span<"n", 256>
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // CHECK: tile.load {{.*}} -> tensor<4x256xf32, #[[ROWS]]>
    // CHECK-NEXT: tile.reduce <max> {{.*}} -> tensor<4xf32, #[[LEFT]]>
    // CHECK-NEXT: tile.broadcast {{.*}} : tensor<4xf32, #[[LEFT]]> to tensor<4x256xf32, #[[ROWS]]>
    // CHECK-NOT: tile_gpu.convert
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x256xf32>, (!tile.span<"i", 4>, !tile.span<"n", 256>) -> tensor<4x256xf32, #tile.axes<"i", "n">>
    %m = tile.reduce <max> %t over ["n"] : tensor<4x256xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    %b = tile.broadcast %m : tensor<4xf32, #tile.axes<"i">> to tensor<4x256xf32, #tile.axes<"i", "n">>
    %d = arith.subf %t, %b : tensor<4x256xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at #id(%i, %n) [] : tensor<4x256xf32, #tile.axes<"i", "n">>, memref<?x256xf32>, (!tile.span<"i", 4>, !tile.span<"n", 256>)
  }
  tile.return
}

// -----

// A transpose reads rows and writes rows: one conversion stands between.

// CHECK-DAG: #[[READ:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1], [0, 2]],
// CHECK-DAG: #[[WRITE:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}1, 0], [2, 0]],
// CHECK-LABEL: tile.kernel @transpose(
tile.kernel @transpose(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (n, m)>})
    attributes {dims = ["M", "N"], tile.divisors = {M = 16 : i64, N = 16 : i64}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 32, %j = tiles "j" %c0 to %N by 32) {
    // CHECK: %[[TILE:.*]] = tile.load {{.*}} -> tensor<32x32xf32, #[[READ]]>
    // CHECK-NEXT: %[[TURNED:.*]] = tile_gpu.convert %[[TILE]] : tensor<32x32xf32, #[[READ]]> to tensor<32x32xf32, #[[WRITE]]>
    // CHECK-NEXT: tile.store %[[TURNED]]
    %t = tile.load %x at affine_map<(i, j) -> (i, j)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 32>, !tile.span<"j", 32>) -> tensor<32x32xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at affine_map<(i, j) -> (j, i)>(%i, %j) [] : tensor<32x32xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 32>, !tile.span<"j", 32>)
  }
  tile.return
}

// -----

// Rows of any length begin anywhere: no thread can move neighbours together, and so each access of a warp is of 32 of them. Where
// lengths are even, a thread moves two.

// CHECK-DAG: #[[ONE:.*]] = #tile_gpu.layout<["i", "j"], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}1, 0], [2, 0]], repeat = [2, 8]>
// CHECK-LABEL: tile.kernel @of_any_length(
#id = affine_map<(i, j) -> (i, j)>
tile.kernel @of_any_length(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>})
    attributes {dims = ["M", "N"], schedule = {warps = 4}, tile.divisors = {M = 16 : i64}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 8, %j = tiles "j" %c0 to %N by 256) {
    // CHECK: tile.load {{.*}} -> tensor<8x256xf32, #[[ONE]]>
    %t = tile.load %x at #id(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>) -> tensor<8x256xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at #id(%i, %j) [] : tensor<8x256xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>)
  }
  tile.return
}

// -----

// CHECK-DAG: #[[TWO:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1]], lane = {{\[\[}}0, 2],
// CHECK-LABEL: tile.kernel @of_even_length(
#id = affine_map<(i, j) -> (i, j)>
tile.kernel @of_even_length(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>})
    attributes {dims = ["M", "N"], schedule = {warps = 4}, tile.divisors = {M = 16 : i64, N = 2 : i64}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 8, %j = tiles "j" %c0 to %N by 256) {
    // CHECK: tile.load {{.*}} -> tensor<8x256xf32, #[[TWO]]>
    %t = tile.load %x at #id(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>) -> tensor<8x256xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at #id(%i, %j) [] : tensor<8x256xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 8>, !tile.span<"j", 256>)
  }
  tile.return
}

// -----

// Sums of a contraction stay neighbours, since a thread reads less for a square of them.

// CHECK-DAG: #[[SUMS:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1], [0, 2]],
// CHECK-LABEL: tile.kernel @product_of_any_length(
#id = affine_map<(i, j) -> (i, j)>
tile.kernel @product_of_any_length(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k, n] -> (m, k)>},
    %b: memref<?x?xf32> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, k, n] -> (k, n)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, k, n] -> (m, n)>})
    attributes {dims = ["M", "K", "N"], schedule = {warps = 2}} {
  %c0 = arith.constant 0 : i64
  %cst = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %K = tile.dim "K"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 32, %j = tiles "j" %c0 to %N by 32) {
    %zero = tile.broadcast %cst : f32 to tensor<32x32xf32, #tile.axes<"i", "j">>
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zero : tensor<32x32xf32, #tile.axes<"i", "j">>) {
      %left = tile.load %a at #id(%i, %k) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 32>, !tile.span<"k", 32>) -> tensor<32x32xf32, #tile.axes<"i", "k">>
      %right = tile.load %b at #id(%k, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"k", 32>, !tile.span<"j", 32>) -> tensor<32x32xf32, #tile.axes<"k", "j">>
      // CHECK: tile.dot {{.*}} -> tensor<32x32xf32, #[[SUMS]]>
      %next = tile.dot %left, %right over "k" acc %acc : tensor<32x32xf32, #tile.axes<"i", "k">>, tensor<32x32xf32, #tile.axes<"k", "j">> -> tensor<32x32xf32, #tile.axes<"i", "j">>
      tile.yield %next : tensor<32x32xf32, #tile.axes<"i", "j">>
    }
    tile.store %sum, %c at #id(%i, %j) [] : tensor<32x32xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 32>, !tile.span<"j", 32>)
  }
  tile.return
}
