// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// Blocks that differ in `j` share a copy: each finds its place among them, fills nothing, and stores the sums that it has
// in registers, to the output itself where there is one copy. Its threads add what they have from program to program, and
// meet once, when these are done.

// CHECK: .entry column_sums(
// CHECK: %nctaid.x
// CHECK: div.u32
// CHECK-NOT: st.global
// CHECK: ld.global
// CHECK-NOT: shfl.sync
// CHECK-NOT: bar.sync
// CHECK: @%p{{[0-9]+}} bra
// CHECK: shfl.sync
// CHECK: bar.sync
// CHECK-COUNT-8: st.global
// CHECK-NOT: st.global
// CHECK: .entry column_sums_finish(
#layout = #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0]], repeat = [1, 1]>
#layout1 = #tile_gpu.layout<["j"], register = [[1], [2]], lane = [[4], [8], [16], [32], [0]], warp = [[0]], repeat = [1]>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
module {
  tile.kernel @column_sums(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 4 : i64, j = 64 : i64, warps = 2 : i64}, tile_gpu.warps = 2 : i64} {
    %c0_i64 = arith.constant 0 : i64
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 4, %arg3 = tiles "j" %c0_i64 to %1 by 64) {
      %2 = tile.load %arg0 at #map(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>) -> tensor<4x64xf32, #layout>
      %3 = tile.reduce <add> %2 over ["i"] : tensor<4x64xf32, #layout> -> tensor<64xf32, #layout1>
      tile.update <add> %3, %arg1 at #map1(%arg3) [] : tensor<64xf32, #layout1>, memref<?xf32>, (!tile.span<"j", 64>)
    }
    tile.return
  }
}
