// RUN: tile-opt %s -tile-gpu-assign-layouts | FileCheck %s

// Behind the dimension of 128 elements there is one of a single one: neighbours lie along the first of the two, and a
// thread has four of them. The last dimension is not always the innermost one.

// CHECK-DAG: #[[PLANE:.*]] = #tile_gpu.layout<["c", "p", "q"], register = {{\[\[}}0, 1, 0], [0, 2, 0]], lane = {{\[\[}}0, 4, 0], [0, 8, 0], [0, 16, 0], [0, 32, 0], [0, 64, 0]],
// CHECK-LABEL: tile.kernel @squares(
#shape = affine_map<()[c] -> (c, 128, 1)>
#id = affine_map<(c, p, q) -> (c, p, q)>
tile.kernel @squares(
    %x: memref<?x128x1xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x128x1xf32> {tile.name = "y", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["C"], schedule = {warps = 4}} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %C = tile.dim "C"
  tile.parallel (%c = tiles "c" %c0 to %C by 16, %p = tiles "p" %c0 to %c128 by 128, %q = tiles "q" %c0 to %c1 by 1) {
    // CHECK: tile.load {{.*}} -> tensor<16x128x1xf32, #[[PLANE]]>
    %t = tile.load %x at #id(%c, %p, %q) [] <exact> : memref<?x128x1xf32>, (!tile.span<"c", 16>, !tile.span<"p", 128>, !tile.span<"q", 1>) -> tensor<16x128x1xf32, #tile.axes<"c", "p", "q">>
    %s = arith.mulf %t, %t : tensor<16x128x1xf32, #tile.axes<"c", "p", "q">>
    tile.store %s, %y at #id(%c, %p, %q) [] : tensor<16x128x1xf32, #tile.axes<"c", "p", "q">>, memref<?x128x1xf32>, (!tile.span<"c", 16>, !tile.span<"p", 128>, !tile.span<"q", 1>)
  }
  tile.return
}
