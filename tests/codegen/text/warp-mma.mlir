// RUN: tile-opt %s --tile-gpu-assign-layouts -split-input-file | FileCheck %s

// Operands and sums have the layouts of the instruction, m16n8k16: a lane has pairs of neighbours in two
// rows of the sums, and pairs along what is contracted of the operands. Four warps share out 64 × 64.
// CHECK: #[[SUMS:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}32, 0], [0, 32]], repeat = [1, 1]>
// CHECK: #[[A:.*]] = #tile_gpu.layout<["i", "k"], register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}32, 0], [0, 0]], repeat = [1, 1]>
// CHECK: #[[B:.*]] = #tile_gpu.layout<["j", "k"], register = {{\[\[}}0, 1], [0, 8], [0, 16], [8, 0], [16, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}0, 0], [32, 0]], repeat = [1, 1]>
// CHECK: tile.kernel @product
// CHECK: %[[X:.*]] = tile_gpu.convert {{.*}} to tensor<64x32xbf16, #[[A]]>
// CHECK: %[[Y:.*]] = tile_gpu.convert {{.*}} to tensor<64x32xbf16, #[[B]]>
// CHECK: tile.dot %[[X]], %[[Y]] over "k" acc %{{.*}} -> tensor<64x64xf32, #[[SUMS]]>
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<64x64xf32, #tile.axes<"i", "j">>
tile.kernel @product(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 64) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"j", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x32xbf16, #tile.axes<"i", "k">>, tensor<64x32xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// What a product gave is the next one's operand where it is: rows stay in their warps, and nothing moves.
// CHECK: #[[S:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]], repeat = [1, 1]>
// CHECK: tile.kernel @chain
// CHECK: tile.dot
// CHECK: %[[HALF:.*]] = arith.truncf {{.*}} to tensor<64x32xf16, #[[S]]>
// CHECK-NOT: tile_gpu.convert %[[HALF]]
// CHECK: tile.dot %[[HALF]]
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<64x32xf32, #tile.axes<"i", "e">>
!s = tensor<64x32xf32, #tile.axes<"i", "j">>
tile.kernel @chain(
    %a: memref<64x16xf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<() -> (64, 16)>},
    %b: memref<32x16xf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<() -> (32, 16)>},
    %d: memref<32x32xf16> {tile.name = "d", tile.mode = "in", tile.shape = affine_map<() -> (32, 32)>},
    %c: memref<64x32xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<() -> (64, 32)>})
    attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %c64 by 64) {
    %j = tile.axis %c0 to %c32 : !tile.span<"j", 32>
    %k = tile.axis %c0 to %c16 : !tile.span<"k", 16>
    %e = tile.axis %c0 to %c32 : !tile.span<"e", 32>
    %none = tile.broadcast %zero : f32 to !s
    %zeros = tile.broadcast %zero : f32 to !acc
    %x = tile.load %a at #at(%i, %k) [] <exact> : memref<64x16xf16>, (!tile.span<"i", 64>, !tile.span<"k", 16>) -> tensor<64x16xf16, #tile.axes<"i", "k">>
    %y = tile.load %b at #at(%j, %k) [] <exact> : memref<32x16xf16>, (!tile.span<"j", 32>, !tile.span<"k", 16>) -> tensor<32x16xf16, #tile.axes<"j", "k">>
    %sums = tile.dot %x, %y over "k" acc %none : tensor<64x16xf16, #tile.axes<"i", "k">>, tensor<32x16xf16, #tile.axes<"j", "k">> -> !s
    %half = arith.truncf %sums : !s to tensor<64x32xf16, #tile.axes<"i", "j">>
    %z = tile.load %d at #at(%j, %e) [] <exact> : memref<32x32xf16>, (!tile.span<"j", 32>, !tile.span<"e", 32>) -> tensor<32x32xf16, #tile.axes<"j", "e">>
    %o = tile.dot %half, %z over "j" acc %zeros : tensor<64x32xf16, #tile.axes<"i", "j">>, tensor<32x32xf16, #tile.axes<"j", "e">> -> !acc
    tile.store %o, %c at #at(%i, %e) [] : !acc, memref<64x32xf32>, (!tile.span<"i", 64>, !tile.span<"e", 32>)
  }
  tile.return
}
