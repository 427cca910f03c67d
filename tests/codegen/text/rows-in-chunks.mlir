// RUN: tile-opt %s -tile-gpu-materialize-axes -tile-gpu-assign-layouts | FileCheck %s

// Several rows in chunks: what they are reduced to, and what is carried from chunk to chunk, lies
// as the reductions give it. Threads exchange nothing before the loop is done.

// CHECK-LABEL: tile.kernel @log_sum_of_exponentials(
// CHECK: tile.for fold %{{.*}} = "N@0" {{.*}} iter_args(%{{.*}} = %{{.*}} : tensor<4xf32, #[[ROWS:.*]]>, %{{.*}} = %{{.*}} : tensor<4xf32, #[[ROWS]]>)
// CHECK-NOT: tile_gpu.convert
// CHECK: tile.reduce <max> {{.*}} -> tensor<4xf32, #[[ROWS]]>
// CHECK-NOT: tile_gpu.convert
// CHECK: tile.reduce <add> {{.*}} -> tensor<4xf32, #[[ROWS]]>
// CHECK-NOT: tile_gpu.convert
// CHECK: tile.yield %{{.*}}, %{{.*}} : tensor<4xf32, #[[ROWS]]>, tensor<4xf32, #[[ROWS]]>
module {
  tile.kernel @log_sum_of_exponentials(%arg0: memref<8x20000xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<8xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"], tile.bound = {M = 8 : i64, N = 20000 : i64}} {
    %c8_i64 = arith.constant 8 : i64
    %c20000_i64 = arith.constant 20000 : i64
    %c0_i64 = arith.constant 0 : i64
    %0 = tile.axis %c0_i64 to %c20000_i64 : <"N", 20000>
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %c8_i64 by 4) {
      %1 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %0) [] <exact> : memref<8x20000xf32>, (!tile.span<"i", 4>, !tile.span<"N", 20000>) -> tensor<4x20000xf32, #tile.axes<"i", "N">>
      %2 = tile.reduce <max> %1 over ["N"] : tensor<4x20000xf32, #tile.axes<"i", "N">> -> tensor<4xf32, #tile.axes<"i">>
      %3 = tile.broadcast %2 : tensor<4xf32, #tile.axes<"i">> to tensor<4x20000xf32, #tile.axes<"i", "N">>
      %4 = arith.subf %1, %3 : tensor<4x20000xf32, #tile.axes<"i", "N">>
      %5 = math.exp %4 : tensor<4x20000xf32, #tile.axes<"i", "N">>
      %6 = tile.reduce <add> %5 over ["N"] : tensor<4x20000xf32, #tile.axes<"i", "N">> -> tensor<4xf32, #tile.axes<"i">>
      %7 = math.log %6 : tensor<4xf32, #tile.axes<"i">>
      %8 = arith.addf %7, %2 : tensor<4xf32, #tile.axes<"i">>
      tile.store %8, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<4xf32, #tile.axes<"i">>, memref<8xf32>, (!tile.span<"i", 4>)
    }
    tile.return
  }
}
