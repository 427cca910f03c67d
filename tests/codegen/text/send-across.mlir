// RUN: tile-opt %s --tile-gpu-build-pipeline | FileCheck %s
// RUN: tile-opt %s --tile-gpu-build-pipeline | tile-translate --tile-gpu-to-ptx | FileCheck %s --check-prefix=PTX

// A product whose transpose is stored, too: it leaves by bulk copies, turned on its way through shared
// memory, in boxes of 16 neighbours. What is read across is read where the sums are. Nothing
// changes its layout.
//
// CHECK-LABEL: tile.kernel @both
// CHECK: %[[SUMS:.*]] = tile_gpu.mma_end
// CHECK-NOT: tile_gpu.convert
// CHECK: tile_gpu.send %{{.*}} to %arg3 at #[[PLACE:.*]](%[[I:.*]], %[[J:.*]]) : tensor<128x256xbf16
// CHECK: tile_gpu.send %{{.*}} to %arg4 at #[[ACROSS:.*]](%[[J]], %[[I]]) : tensor<128x256xbf16
// CHECK: tile_gpu.send %{{.*}} to %arg5 at #{{.*}}(%[[J]], %[[I]]) : tensor<128x256xf32
//
// PTX: // tensor map: parameter 3, box 64x16, swizzle 128
// PTX-NEXT: // tensor map: parameter 4, box 16x64, swizzle 32
// PTX-NEXT: // tensor map: parameter 5, box 16x32, swizzle 64
// PTX-COUNT-16: st.shared.b32
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
// PTX-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared::cta.b16
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
// PTX-COUNT-4: stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
!acc = tensor<128x256xf32, #tile.axes<"i", "j">>
!half = tensor<128x256xbf16, #tile.axes<"i", "j">>
tile.kernel @both(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %r: memref<?x?xf32> {tile.name = "r", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, m)>},
    %c: memref<?x?xbf16> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>},
    %d: memref<?x?xbf16> {tile.name = "d", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (n, m)>},
    %e: memref<?x?xf32> {tile.name = "e", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (n, m)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}, tile.divisors = {M = 16, N = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 256>, !tile.span<"k", 64>) -> tensor<256x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<256x64xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    %before = tile.load %r at affine_map<(j, i) -> (j, i)>(%j, %i) [] <exact> : memref<?x?xf32>, (!tile.span<"j", 256>, !tile.span<"i", 128>) -> tensor<256x128xf32, #tile.axes<"j", "i">>
    %turned = tile.broadcast %before : tensor<256x128xf32, #tile.axes<"j", "i">> to !acc
    %all = arith.addf %sum, %turned : !acc
    %rounded = arith.truncf %all : !acc to !half
    tile.store %rounded, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !half, memref<?x?xbf16>, (!tile.span<"i", 128>, !tile.span<"j", 256>)
    tile.store %rounded, %d at affine_map<(j, i) -> (j, i)>(%j, %i) [] : !half, memref<?x?xbf16>, (!tile.span<"j", 256>, !tile.span<"i", 128>)
    tile.store %all, %e at affine_map<(j, i) -> (j, i)>(%j, %i) [] : !acc, memref<?x?xf32>, (!tile.span<"j", 256>, !tile.span<"i", 128>)
  }
  tile.return
}
