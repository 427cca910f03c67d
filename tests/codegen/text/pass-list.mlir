// The list of passes that the compiler runs, as one pass; it may stop behind any of them.
// RUN: tile-opt %s --tile-gpu-pipeline | FileCheck %s
// RUN: tile-opt %s --tile-gpu-pipeline="stop-after=gpu-normalize" | FileCheck %s --check-prefix=TILE
// RUN: tile-opt %s --tile-gpu-pipeline="target=sm_80" | FileCheck %s --check-prefix=OLD
// RUN: not tile-opt %s --tile-gpu-pipeline="target=sm_70" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tile-opt %s --tile-gpu-pipeline="stop-after=gpu-cook" 2>&1 | FileCheck %s --check-prefix=PASS

// CHECK-LABEL: tile.kernel @product
// CHECK: tile_gpu.roles "load"
// CHECK: tile_gpu.send
//
// TILE-LABEL: tile.kernel @product
// TILE-NOT: tile_gpu
// TILE: tile.dot
// TILE-NOT: tile_gpu
//
// OLD-LABEL: tile.kernel @product
// OLD-NOT: tile_gpu.roles
// OLD: tile.dot {{.*}} #layout
//
// TARGET: there is no target sm_70
// PASS: there is no pass gpu-cook
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x128xf32, #tile.axes<"i", "j">>
tile.kernel @product(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x4096xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64, N = 4096 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = arith.constant 4096 : i64
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x4096xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}
