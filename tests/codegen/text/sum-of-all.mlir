// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// A number that all programs add to stays in a register of each thread from program to program, and goes to the block's
// copy once, after all of them.

// CHECK: .entry total(
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: ld.global.b32
// CHECK: bra
// CHECK-NOT: ld.global.b32
// CHECK: st.global.b32
#layout = #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[0, 128], [0, 256]], repeat = [1, 2]>
#layout1 = #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], repeat = [1]>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<()[s0] -> (s0)>
module {
  tile.kernel @total(%arg0: memref<8192x8192xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<1xf32> {tile.mode = "reduce", tile.name = "y", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 1 : i64, j = 1024 : i64, warps = 4 : i64}, tile.bound = {M = 8192 : i64, N = 8192 : i64}, tile_gpu.warps = 4 : i64} {
    %c8192_i64 = arith.constant 8192 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %c8192_i64 by 1, %arg3 = tiles "j" %c0_i64 to %c8192_i64 by 1024, %arg4 = each "k" %c0_i64 to %c1_i64) {
      %0 = tile.load %arg0 at #map(%arg2, %arg3) [] <exact> : memref<8192x8192xf32>, (!tile.span<"i", 1>, !tile.span<"j", 1024>) -> tensor<1x1024xf32, #layout>
      %1 = tile.reduce <add> %0 over ["j"] : tensor<1x1024xf32, #layout> -> tensor<1xf32, #layout1>
      %2 = tile.reduce <add> %1 over ["i"] : tensor<1xf32, #layout1> -> f32
      tile.update <add> %2, %arg1 at #map1() [%arg4] : f32, memref<1xf32>, ()
    }
    tile.return
  }
}
