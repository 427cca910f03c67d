// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// What sums become in the end is computed by who folds the copies: the function for it, in one way for few copies and in
// another for many, or the last block where there are few elements. Sums of integers have copies, too, since nobody would know when atomic ones are complete.

// CHECK: .entry finished(
// CHECK-NOT: red.relaxed
// CHECK: .entry finished_finish(
// CHECK: ld.global
// CHECK: div.rn.f32
// CHECK: sqrt.rn.f32 [[ROOT:%r[0-9]+]],
// CHECK: st.global.b32 {{.*}}, [[ROOT]];
// CHECK: xor.b32
// CHECK: xor.b32 [[ODD:%r[0-9]+]], %r{{[0-9]+}}, 1;
// CHECK: st.global.b32 {{.*}}, [[ODD]];
// CHECK: .entry few(
// CHECK-NOT: red.relaxed
// CHECK: atom.acq_rel.gpu.global.inc.u32
// CHECK: xor.b32 [[LAST:%r[0-9]+]], %r{{[0-9]+}}, 1;
// CHECK: st.global.b32 {{.*}}, [[LAST]];
// CHECK: .entry few_finish(
// CHECK: xor.b32
// CHECK: xor.b32 [[NEXT:%r[0-9]+]], %r{{[0-9]+}}, 1;
// CHECK: st.global.b32 {{.*}}, [[NEXT]];
#layout = #tile_gpu.layout<["i", "N"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0]], repeat = [2, 1]>
#layout1 = #tile_gpu.layout<["N"], register = [[1], [2]], lane = [[4], [8], [16], [32], [0]], warp = [[0]], repeat = [1]>
#layout2 = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [0], [0]], warp = [[0]], repeat = [1]>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
module {
  tile.kernel @finished(%arg0: memref<?x64xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}, %arg2: memref<64xf32> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}, %arg3: memref<8xi32> {tile.mode = "reduce", tile.name = "c", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (8)>, tile.type = "i32"}) attributes {dims = ["M", "N"], schedule = {i = 8 : i64, warps = 2 : i64}, tile.bound = {N = 64 : i64}, tile_gpu.warps = 2 : i64} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i64 = arith.constant 0 : i64
    %c64_i64 = arith.constant 64 : i64
    %0 = tile.dim "M"
    %m = arith.sitofp %0 : i64 to f32
    %1 = tile.axis %c0_i64 to %c64_i64 : <"N", 64>
    tile.parallel (%arg5 = tiles "i" %c0_i64 to %0 by 8) {
      %2 = tile.load %arg0 at #map(%arg5, %1) [] <exact> : memref<?x64xf32>, (!tile.span<"i", 8>, !tile.span<"N", 64>) -> tensor<8x64xf32, #layout>
      %3 = tile.reduce <add> %2 over ["i"] : tensor<8x64xf32, #layout> -> tensor<64xf32, #layout1>
      tile.update <add> %3, %arg2 at #map1(%1) [] : tensor<64xf32, #layout1>, memref<64xf32>, (!tile.span<"N", 64>)
      %4 = tile.load %arg1 at #map1(%arg5) [] <exact> : memref<?xi32>, (!tile.span<"i", 8>) -> tensor<8xi32, #layout2>
      %5 = arith.extsi %4 : tensor<8xi32, #layout2> to tensor<8xi64, #layout2>
      %6 = tile.broadcast %c1_i32 : i32 to tensor<8xi32, #layout2>
      tile.update <add> %6, %arg3 at #map1(%5) [] : tensor<8xi32, #layout2>, memref<8xi32>, (tensor<8xi64, #layout2>)
    }
    tile.finish %arg2 : memref<64xf32> {
    ^bb0(%s: f32):
      %8 = arith.divf %s, %m : f32
      %9 = math.sqrt %8 : f32
      tile.combined %9 : f32
    }
    tile.finish %arg3 : memref<8xi32> {
    ^bb0(%c: i32):
      %8 = arith.xori %c, %c1_i32 : i32
      tile.combined %8 : i32
    }
    tile.return
  }
  tile.kernel @few(%arg0: memref<?x64xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i32"}, %arg3: memref<4xi32> {tile.mode = "reduce", tile.name = "c", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (4)>, tile.type = "i32"}) attributes {dims = ["M", "N"], schedule = {i = 8 : i64, warps = 2 : i64}, tile.bound = {N = 64 : i64}, tile_gpu.warps = 2 : i64} {
    %c1_i32 = arith.constant 1 : i32
    %c0_i64 = arith.constant 0 : i64
    %0 = tile.dim "M"
    tile.parallel (%arg5 = tiles "i" %c0_i64 to %0 by 8) {
      %4 = tile.load %arg1 at #map1(%arg5) [] <exact> : memref<?xi32>, (!tile.span<"i", 8>) -> tensor<8xi32, #layout2>
      %5 = arith.extsi %4 : tensor<8xi32, #layout2> to tensor<8xi64, #layout2>
      %6 = tile.broadcast %c1_i32 : i32 to tensor<8xi32, #layout2>
      tile.update <add> %6, %arg3 at #map1(%5) [] : tensor<8xi32, #layout2>, memref<4xi32>, (tensor<8xi64, #layout2>)
    }
    tile.finish %arg3 : memref<4xi32> {
    ^bb0(%c: i32):
      %8 = arith.xori %c, %c1_i32 : i32
      tile.combined %8 : i32
    }
    tile.return
  }
}
