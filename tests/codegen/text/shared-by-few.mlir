// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Thirty-two elements share a quotient: it is computed in vectors, and kept, not as a scalar before each few of them.

// CHECK-LABEL: define internal void @quantized.body(
// CHECK: fdiv <16 x float>
// CHECK-NOT: fdiv float
// CHECK: ret void
#at = affine_map<(i, g, c) -> (i, g * 32 + c)>
!all = tensor<16x16x32xf32, #tile.axes<"i", "g", "c">>
!rows = tensor<16x16xf32, #tile.axes<"i", "g">>
tile.kernel @quantized(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %G = tile.div %N, %c32 : i64
  %most = arith.constant 448.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %M by 16, %g = tiles "g" %c0 to %G by 16) {
    %c = tile.axis %c0 to %c32 : !tile.span<"c", 32>
    %t = tile.load %x at #at(%i, %g, %c) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"g", 16>, !tile.span<"c", 32>) -> !all
    %m = tile.reduce <max> %t over ["c"] : !all -> !rows
    %all = tile.broadcast %most : f32 to !rows
    %s = arith.divf %all, %m : !rows
    %f = tile.broadcast %s : !rows to !all
    %u = arith.mulf %t, %f : !all
    tile.store %u, %y at #at(%i, %g, %c) [] : !all, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"g", 16>, !tile.span<"c", 32>)
  }
  tile.return
}
