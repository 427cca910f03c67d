// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Sums of rows, block by block along an axis of one coordinate, which is the last one: what is kept of them has
// columns last, so that they are neighbours in memory, and lanes of what adds them up.

// CHECK-LABEL: define internal void @sums.body(
// CHECK-NOT: load float,
// CHECK: ret void
#at = affine_map<(n, c, p, q) -> (n, c, p, q)>
!all = tensor<4x64x1x32xf32, #tile.axes<"n", "c", "p", "q">>
!rows = tensor<4x64x1xf32, #tile.axes<"n", "c", "p">>
!columns = tensor<4x64xf32, #tile.axes<"n", "c">>
tile.kernel @sums(
    %x: memref<?x?x?x32xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n, c, p] -> (n, c, p, 32)>},
    %s: memref<?x?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[n, c, p] -> (n, c)>})
    attributes {dims = ["N", "C", "P"]} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %N = tile.dim "N"
  %C = tile.dim "C"
  %P = tile.dim "P"
  %q = tile.axis %c0 to %c32 : !tile.span<"q", 32>
  %zero = arith.constant 0.0 : f32
  tile.parallel (%n = tiles "n" %c0 to %N by 4, %c = tiles "c" %c0 to %C by 64) {
    %zeros = tile.broadcast %zero : f32 to !columns
    %sum = tile.for fold %p = "p" %c0 to %P by 1 iter_args(%before = %zeros : !columns) {
      %t = tile.load %x at #at(%n, %c, %p, %q) [] <exact> : memref<?x?x?x32xf32>, (!tile.span<"n", 4>, !tile.span<"c", 64>, !tile.span<"p", 1>, !tile.span<"q", 32>) -> !all
      %r = tile.reduce <add> %t over ["q"] : !all -> !rows
      %u = tile.reduce <add> %r over ["p"] : !rows -> !columns
      %next = arith.addf %before, %u : !columns
      tile.yield %next : !columns
    }
    tile.store %sum, %s at affine_map<(n, c) -> (n, c)>(%n, %c) [] : !columns, memref<?x?xf32>, (!tile.span<"n", 4>, !tile.span<"c", 64>)
  }
  tile.return
}
