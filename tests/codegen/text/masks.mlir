// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s

// Few predicates live at a time: ptxas has seven, and others take registers, or memory.

// Numbers are asked for NaN once each, and compare as integers: keys, then places.
// CHECK-LABEL: .entry first_best(
// CHECK-COUNT-4: setp.nan.f32
// CHECK-NOT: setp.{{[a-z]+}}.f32
// CHECK: setp.gt.s32
// CHECK: setp.lt.u32
// CHECK-NOT: setp.{{[a-z]+}}.f32
// CHECK: ret;
tile.kernel @first_best(%arg0: memref<?x100xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?xi64> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "i64"}) attributes {dims = ["M", "N"], schedule = {i = 1 : i64}, tile.bound = {N = 100 : i64}} {
  %c0_i64 = arith.constant 0 : i64
  %c100_i64 = arith.constant 100 : i64
  %0 = tile.dim "M"
  %1 = tile.axis %c0_i64 to %c100_i64 : <"N", 100>
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 1) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] <exact> : memref<?x100xf32>, (!tile.span<"i", 1>, !tile.span<"N", 100>) -> tensor<1x100xf32, #tile.axes<"i", "N">>
    %3 = tile.arg_reduce <max> %2 over "N" : tensor<1x100xf32, #tile.axes<"i", "N">> -> tensor<1xi64, #tile.axes<"i">>
    tile.store %3, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<1xi64, #tile.axes<"i">>, memref<?xi64>, (!tile.span<"i", 1>)
  }
  tile.return
}

// -----

// What a load doesn't read is zero: a product needs no second mask.
// CHECK-LABEL: .entry product(
// CHECK: ld.global.nc.b32
// CHECK-NOT: selp
// CHECK: st.shared.b32
// CHECK-NOT: selp
// CHECK: ret;
tile.kernel @product(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "in", tile.name = "w", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 16 : i64, j = 16 : i64, k = 16 : i64, warps = 2 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  %2 = tile.dim "K"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 16, %arg4 = tiles "j" %c0_i64 to %1 by 16) {
    %3 = tile.broadcast %cst : f32 to tensor<16x16xf32, #tile.axes<"i", "j">>
    %4 = tile.for fold %arg5 = "k" %c0_i64 to %2 by 16 iter_args(%arg6 = %3 : tensor<16x16xf32, #tile.axes<"i", "j">>) {
      %5 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg5) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"k", 16>) -> tensor<16x16xf32, #tile.axes<"i", "k">>
      %6 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"k", 16>, !tile.span<"j", 16>) -> tensor<16x16xf32, #tile.axes<"k", "j">>
      %7 = tile.dot %5, %6 over "k" acc %arg6 : tensor<16x16xf32, #tile.axes<"i", "k">>, tensor<16x16xf32, #tile.axes<"k", "j">> -> tensor<16x16xf32, #tile.axes<"i", "j">>
      tile.yield %7 : tensor<16x16xf32, #tile.axes<"i", "j">>
    }
    tile.store %4, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<16x16xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"j", 16>)
  }
  tile.return
}

// -----

// Unless it is ones.
// CHECK-LABEL: .entry of_ones(
// CHECK: ld.global.nc.b32
// CHECK: selp.{{[bf]}}32
// CHECK: st.shared.b32
tile.kernel @of_ones(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x?xf32> {tile.mode = "in", tile.name = "w", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 16 : i64, j = 16 : i64, k = 16 : i64, warps = 2 : i64}} {
  %cst = arith.constant 1.000000e+00 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  %2 = tile.dim "K"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 16, %arg4 = tiles "j" %c0_i64 to %1 by 16) {
    %3 = tile.broadcast %cst_0 : f32 to tensor<16x16xf32, #tile.axes<"i", "j">>
    %4 = tile.for fold %arg5 = "k" %c0_i64 to %2 by 16 iter_args(%arg6 = %3 : tensor<16x16xf32, #tile.axes<"i", "j">>) {
      %5 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg5) [] <pad> else %cst : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"k", 16>), f32 -> tensor<16x16xf32, #tile.axes<"i", "k">>
      %6 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg4) [] <exact> : memref<?x?xf32>, (!tile.span<"k", 16>, !tile.span<"j", 16>) -> tensor<16x16xf32, #tile.axes<"k", "j">>
      %7 = tile.dot %5, %6 over "k" acc %arg6 : tensor<16x16xf32, #tile.axes<"i", "k">>, tensor<16x16xf32, #tile.axes<"k", "j">> -> tensor<16x16xf32, #tile.axes<"i", "j">>
      tile.yield %7 : tensor<16x16xf32, #tile.axes<"i", "j">>
    }
    tile.store %4, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<16x16xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"j", 16>)
  }
  tile.return
}
