// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Programs along j, in a row, go to other elements: 16 of them share a copy of the output.

// CHECK-LABEL: define i64 @columns.apart(
// CHECK: ret i64 16
tile.kernel @columns(%arg0: memref<64x4096xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4096xf32> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], tile.bound = {M = 64 : i64, N = 4096 : i64}} {
  %c64_i64 = arith.constant 64 : i64
  %c4096_i64 = arith.constant 4096 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %c64_i64 by 16, %arg3 = tiles "j" %c0_i64 to %c4096_i64 by 256) {
    %0 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<64x4096xf32>, (!tile.span<"i", 16>, !tile.span<"j", 256>) -> tensor<16x256xf32, #tile.axes<"i", "j">>
    %1 = tile.reduce <add> %0 over ["i"] : tensor<16x256xf32, #tile.axes<"i", "j">> -> tensor<256xf32, #tile.axes<"j">>
    tile.update <add> %1, %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<256xf32, #tile.axes<"j">>, memref<4096xf32>, (!tile.span<"j", 256>)
  }
  tile.return
}

// -----

// Here those in a row go to the same elements.

// CHECK-LABEL: define i64 @across.apart(
// CHECK: ret i64 1{{$}}
tile.kernel @across(%arg0: memref<64x4096xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4096xf32> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0, s1] -> (s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"], tile.bound = {M = 64 : i64, N = 4096 : i64}} {
  %c4096_i64 = arith.constant 4096 : i64
  %c64_i64 = arith.constant 64 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg2 = tiles "j" %c0_i64 to %c4096_i64 by 256, %arg3 = tiles "i" %c0_i64 to %c64_i64 by 16) {
    %0 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg2) [] <exact> : memref<64x4096xf32>, (!tile.span<"i", 16>, !tile.span<"j", 256>) -> tensor<16x256xf32, #tile.axes<"i", "j">>
    %1 = tile.reduce <add> %0 over ["i"] : tensor<16x256xf32, #tile.axes<"i", "j">> -> tensor<256xf32, #tile.axes<"j">>
    tile.update <add> %1, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<256xf32, #tile.axes<"j">>, memref<4096xf32>, (!tile.span<"j", 256>)
  }
  tile.return
}

// -----

// Here data decides.

// CHECK-LABEL: define i64 @counted.apart(
// CHECK: ret i64 1{{$}}
tile.kernel @counted(%arg0: memref<64xi32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg1: memref<8xi32> {tile.mode = "reduce", tile.name = "c", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[s0] -> (8)>, tile.type = "i32"}) attributes {dims = ["M"], tile.bound = {M = 64 : i64}} {
  %c1_i32 = arith.constant 1 : i32
  %c64_i64 = arith.constant 64 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %c64_i64 by 16) {
    %0 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<64xi32>, (!tile.span<"i", 16>) -> tensor<16xi32, #tile.axes<"i">>
    %1 = arith.extsi %0 : tensor<16xi32, #tile.axes<"i">> to tensor<16xi64, #tile.axes<"i">>
    tile.update <add> %c1_i32, %arg1 at affine_map<(d0) -> (d0)>(%1) [] : i32, memref<8xi32>, (tensor<16xi64, #tile.axes<"i">>)
  }
  tile.return
}
