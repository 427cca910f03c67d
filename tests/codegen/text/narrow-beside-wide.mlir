// RUN: tile-opt %s -tile-gpu-assign-layouts | FileCheck %s
// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s --check-prefix=PTX

// The widest elements decide how many a thread has together: 16 bytes of f32 are 4. Those of bool beside them are 4 bytes
// a thread, neighbours in a warp; 16 would leave the threads' f32 apart.

// CHECK: #[[L:.*]] = #tile_gpu.layout<["i", "j"], register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4]
// CHECK: -> tensor<1x4096xi1, #[[L]]>
// CHECK: -> tensor<1x4096xf32, #[[L]]>

// PTX-COUNT-4: ld.global.nc.b32
// PTX-COUNT-4: ld.global.nc.v4.b32
// PTX-COUNT-4: st.global.v4.b32
  tile.kernel @masked(%arg0: memref<8192x8192xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<8192x8192xi1> {tile.mode = "in", tile.name = "m", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "bool"}, %arg2: memref<8192x8192xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 1 : i64, j = 4096 : i64, warps = 8 : i64}, tile.bound = {M = 8192 : i64, N = 8192 : i64}} {
    %cst = arith.constant 0.000000e+00 : f32
    %c8192_i64 = arith.constant 8192 : i64
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %c8192_i64 by 1, %arg4 = tiles "j" %c0_i64 to %c8192_i64 by 4096) {
      %0 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<8192x8192xi1>, (!tile.span<"i", 1>, !tile.span<"j", 4096>) -> tensor<1x4096xi1, #tile.axes<"i", "j">>
      %1 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] <exact> : memref<8192x8192xf32>, (!tile.span<"i", 1>, !tile.span<"j", 4096>) -> tensor<1x4096xf32, #tile.axes<"i", "j">>
      %2 = tile.broadcast %cst : f32 to tensor<1x4096xf32, #tile.axes<"i", "j">>
      %3 = arith.select %0, %1, %2 : tensor<1x4096xi1, #tile.axes<"i", "j">>, tensor<1x4096xf32, #tile.axes<"i", "j">>
      tile.store %3, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<1x4096xf32, #tile.axes<"i", "j">>, memref<8192x8192xf32>, (!tile.span<"i", 1>, !tile.span<"j", 4096>)
    }
    tile.return
  }
