// RUN: tile-opt %s -tile-gpu-assign-layouts | FileCheck %s
// RUN: tile-opt %s -tile-gpu-assign-layouts | tile-opt | FileCheck %s

// Where a scan begins, and the last states, are held as a part of what it goes along: nothing is
// converted.

// CHECK-DAG: #[[ROWS:.*]] = #tile_gpu.layout<["i", "N"], register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]], repeat = [1, 2]>
// CHECK-DAG: #[[LEFT:.*]] = #tile_gpu.layout<["i"], register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]], repeat = [1]>
// CHECK-NOT: tile_gpu.convert
tile.kernel @sums(%arg0: memref<?x256xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x256xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 4 : i64, warps = 4 : i64}, tile.bound = {N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %c256_i64 = arith.constant 256 : i64
  %0 = tile.dim "M"
  %1 = tile.axis %c0_i64 to %c256_i64 : <"N", 256>
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 4) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %1) [] <exact> : memref<?x256xf32>, (!tile.span<"i", 4>, !tile.span<"N", 256>) -> tensor<4x256xf32, #tile.axes<"i", "N">>
    // CHECK: %[[INIT:.*]] = tile.broadcast {{.*}} : f32 to tensor<4xf32, #[[LEFT]]>
    %3 = tile.broadcast %cst : f32 to tensor<4xf32, #tile.axes<"i">>
    // CHECK: tile.scan "cumsum" ({{.*}} : tensor<4x256xf32, #[[ROWS]]>) from (%[[INIT]] : tensor<4xf32, #[[LEFT]]>)
    %4:2 = tile.scan "cumsum" (%2 : tensor<4x256xf32, #tile.axes<"i", "N">>) from (%3 : tensor<4xf32, #tile.axes<"i">>) over "N" {
    ^bb0(%arg4: f32, %arg5: f32):
      %5 = arith.addf %arg4, %arg5 : f32
      tile.combined %5 : f32
    }
    tile.store %4#0, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %1) [] : tensor<4x256xf32, #tile.axes<"i", "N">>, memref<?x256xf32>, (!tile.span<"i", 4>, !tile.span<"N", 256>)
    // CHECK: tile.store {{.*}}#1, {{.*}} : tensor<4xf32, #[[LEFT]]>
    tile.store %4#1, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}
// CHECK-NOT: tile_gpu.convert
