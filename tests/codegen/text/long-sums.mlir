// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s

// A number that a loop adds to: 32 terms by themselves, whose sum alone is added in two numbers. As many loads are on
// their way as a plain loop has: four chains stand in one round, written out. Chains that are left behind these have code
// of their own, and so has what is left behind them.
// CHECK-LABEL: .entry numbers(
// CHECK: shr.u64 {{.*}}, 7;
// CHECK-COUNT-128: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: shr.u64 {{.*}}, 5;
// CHECK-COUNT-32: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: and.b64 {{.*}}, 31;
// CHECK: ld.global.nc.b32 [[Y:%r[0-9]+]]
// CHECK-NOT: sub.rn.f32
// CHECK: add.rn.f32 [[D:%r[0-9]+]], [[D]], [[Y]];
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @numbers(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0, s1] -> (s0)>}) attributes {dims = ["M", "N"], tile_gpu.warps = 1 : i64} {
  %c1_i64 = arith.constant 1 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = each "i" %c0_i64 to %0) {
    %2 = scf.for %arg3 = %c0_i64 to %1 step %c1_i64 iter_args(%arg4 = %cst) -> (f32)  : i64 {
      %3 = tile.load %arg0 at affine_map<()[s0, s1] -> (s0, s1)>() [%arg2, %arg3] <exact> : memref<?x?xf32>, () -> f32
      %4 = arith.addf %arg4, %3 : f32
      scf.yield %4 : f32
    } {tile.name = "r"}
    tile.store %2, %arg1 at affine_map<()[s0] -> (s0)>() [%arg2] : f32, memref<?xf32>, ()
  }
  tile.return
}

// -----

// Of blocks of rows each thread adds what it has of every block in two numbers, which settle behind
// 256 blocks: as much as the sum can hold of what it has lost goes into it, if it is finite.
// CHECK-LABEL: .entry blocks(
// CHECK: add.rn.f32 [[SUM:%r[0-9]+]], [[S:%r[0-9]+]], [[L:%r[0-9]+]];
// CHECK-NEXT: sub.rn.f32 [[TAKEN:%r[0-9]+]], [[SUM]], [[S]];
// CHECK-NEXT: sub.rn.f32 [[REST:%r[0-9]+]], [[L]], [[TAKEN]];
// CHECK-NEXT: abs.f32 [[SIZE:%r[0-9]+]], [[SUM]];
// CHECK-NEXT: setp.ne.f32 [[FINITE:%p[0-9]+]], [[SIZE]], 0f7F800000;
// CHECK-NEXT: selp.f32 [[S]], [[SUM]], [[S]], [[FINITE]];
// CHECK-NEXT: selp.f32 [[L]], [[REST]], [[L]], [[FINITE]];
// CHECK: min.u64 {{.*}}, 8192;
tile.kernel @blocks(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0, s1] -> (s0)>}) attributes {dims = ["M", "N"], schedule = {i = 1 : i64, k = 32 : i64}, tile_gpu.warps = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 1) {
    %2 = tile.broadcast %cst : f32 to tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
    %3 = tile.for fold %arg3 = "k" %c0_i64 to %1 by 32 iter_args(%arg4 = %2 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>) {
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"k", 32>) -> tensor<1x32xf32, #tile_gpu.layout<["i", "k"], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], repeat = [1, 1]>>
      %5 = tile.reduce <add> %4 over ["k"] : tensor<1x32xf32, #tile_gpu.layout<["i", "k"], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], repeat = [1, 1]>> -> tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
      %6 = arith.addf %arg4, %5 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
      tile.yield %6 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
    }
    tile.store %3, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>, memref<?xf32>, (!tile.span<"i", 1>)
  }
  tile.return
}

// -----

// As many rounds as two numbers bear are one loop.
// CHECK-LABEL: .entry few(
// CHECK-NOT: abs.f32
// CHECK: ret;
tile.kernel @few(%arg0: memref<?x8192xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0, 8192)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0] -> (s0)>}) attributes {dims = ["M"], schedule = {i = 1 : i64, k = 32 : i64}, tile_gpu.warps = 1 : i64} {
  %c8192_i64 = arith.constant 8192 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 1) {
    %1 = tile.broadcast %cst : f32 to tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
    %2 = tile.for fold %arg3 = "k" %c0_i64 to %c8192_i64 by 32 iter_args(%arg4 = %1 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x8192xf32>, (!tile.span<"i", 1>, !tile.span<"k", 32>) -> tensor<1x32xf32, #tile_gpu.layout<["i", "k"], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], repeat = [1, 1]>>
      %4 = tile.reduce <add> %3 over ["k"] : tensor<1x32xf32, #tile_gpu.layout<["i", "k"], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], repeat = [1, 1]>> -> tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
      %5 = arith.addf %arg4, %4 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
      tile.yield %5 : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>
    }
    tile.store %2, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<1xf32, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [0], [0]], warp = [], repeat = [1]>>, memref<?xf32>, (!tile.span<"i", 1>)
  }
  tile.return
}

// -----

// Two additions a round: 16 rounds make a chain.
// CHECK-LABEL: .entry two(
// CHECK: min.u64 {{.*}}, 4096;
// CHECK-COUNT-64: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: setp.lt.s64
// CHECK-COUNT-16: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: setp.lt.s64
tile.kernel @two(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0, s1] -> (s0)>}) attributes {dims = ["M", "N"], tile_gpu.warps = 1 : i64} {
  %cst = arith.constant 2.000000e+00 : f32
  %c1_i64 = arith.constant 1 : i64
  %cst_0 = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = each "i" %c0_i64 to %0) {
    %2 = scf.for %arg3 = %c0_i64 to %1 step %c1_i64 iter_args(%arg4 = %cst_0) -> (f32)  : i64 {
      %3 = tile.load %arg0 at affine_map<()[s0, s1] -> (s0, s1)>() [%arg2, %arg3] <exact> : memref<?x?xf32>, () -> f32
      %4 = arith.addf %arg4, %3 : f32
      %5 = math.fma %3, %cst, %4 : f32
      scf.yield %5 : f32
    } {tile.name = "r"}
    tile.store %2, %arg1 at affine_map<()[s0] -> (s0)>() [%arg2] : f32, memref<?xf32>, ()
  }
  tile.return
}

// -----

// 50 rounds are two chains of 25, written out.
// CHECK-LABEL: .entry fifty(
// CHECK-NOT: bra
// CHECK-COUNT-50: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @fifty(%arg0: memref<?x50xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0, 50)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0] -> (s0)>}) attributes {dims = ["M"], tile_gpu.warps = 1 : i64} {
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %c1_i64 = arith.constant 1 : i64
  %c50_i64 = arith.constant 50 : i64
  %0 = tile.dim "M"
  tile.parallel (%arg2 = each "i" %c0_i64 to %0) {
    %1 = scf.for %arg3 = %c0_i64 to %c50_i64 step %c1_i64 iter_args(%arg4 = %cst) -> (f32)  : i64 {
      %2 = tile.load %arg0 at affine_map<()[s0, s1] -> (s0, s1)>() [%arg2, %arg3] <exact> : memref<?x50xf32>, () -> f32
      %3 = arith.addf %arg4, %2 : f32
      scf.yield %3 : f32
    } {tile.name = "r"}
    tile.store %1, %arg1 at affine_map<()[s0] -> (s0)>() [%arg2] : f32, memref<?xf32>, ()
  }
  tile.return
}

// -----

// What takes many instructions stands there twice, in whole chains and in what is left.
// CHECK-LABEL: .entry costly(
// CHECK-COUNT-2: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: ret;
tile.kernel @costly(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "s", tile.shape = affine_map<()[s0, s1] -> (s0)>}) attributes {dims = ["M", "N"], tile_gpu.warps = 1 : i64} {
  %c1_i64 = arith.constant 1 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "M"
  %1 = tile.dim "N"
  tile.parallel (%arg2 = each "i" %c0_i64 to %0) {
    %2 = scf.for %arg3 = %c0_i64 to %1 step %c1_i64 iter_args(%arg4 = %cst) -> (f32)  : i64 {
      %3 = tile.load %arg0 at affine_map<()[s0, s1] -> (s0, s1)>() [%arg2, %arg3] <exact> : memref<?x?xf32>, () -> f32
      %4 = math.tanh %3 : f32
      %5 = arith.addf %arg4, %4 : f32
      scf.yield %5 : f32
    } {tile.name = "r"}
    tile.store %2, %arg1 at affine_map<()[s0] -> (s0)>() [%arg2] : f32, memref<?xf32>, ()
  }
  tile.return
}
