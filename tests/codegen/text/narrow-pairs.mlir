// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// Two numbers are rounded to bf16 at a time, and are taken as they are from one word: to go on
// with, and to be stored.

// CHECK-LABEL: .entry rounded(
// CHECK: cvt.rn.bf16x2.f32 %[[A:r[0-9]+]],
// CHECK: cvt.rn.bf16x2.f32
// CHECK: cvt.rn.bf16x2.f32
// CHECK: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn.bf16
// CHECK: shl.b32 %{{.*}}, %[[A]], 16;
// CHECK: and.b32 %{{.*}}, %[[A]], -65536;
// CHECK: st.global.v4.b32
tile.kernel @rounded(%arg0: memref<1024xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg1: memref<1024xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg2: memref<1024xbf16> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"], schedule = {i = 1024 : i64, warps = 4 : i64}, tile.bound = {N = 1024 : i64}} {
  %cst = arith.constant 2.000000e+00 : f32
  %c1024_i64 = arith.constant 1024 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %c1024_i64 by 1024) {
    %0 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<1024xf32>, (!tile.span<"i", 1024>) -> tensor<1024xf32, #tile.axes<"i">>
    %1 = tile.broadcast %cst : f32 to tensor<1024xf32, #tile.axes<"i">>
    %2 = arith.mulf %0, %1 : tensor<1024xf32, #tile.axes<"i">>
    %3 = arith.truncf %2 : tensor<1024xf32, #tile.axes<"i">> to tensor<1024xbf16, #tile.axes<"i">>
    %4 = arith.extf %3 : tensor<1024xbf16, #tile.axes<"i">> to tensor<1024xf32, #tile.axes<"i">>
    %5 = arith.addf %4, %0 : tensor<1024xf32, #tile.axes<"i">>
    tile.store %5, %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<1024xf32, #tile.axes<"i">>, memref<1024xf32>, (!tile.span<"i", 1024>)
    tile.store %3, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<1024xbf16, #tile.axes<"i">>, memref<1024xbf16>, (!tile.span<"i", 1024>)
  }
  tile.return
}
