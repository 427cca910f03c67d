// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Lanes that lie apart in memory are gathered where enough is computed of them; else one element
// comes after the other.

// CHECK-LABEL: define internal void @dear.body(
// CHECK-COUNT-4: call <16 x float> @llvm.masked.gather
// CHECK: ret void
tile.kernel @dear(%arg0: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0 floordiv 4)>, tile.type = "f32"}) attributes {dims = ["N"]} {
  %c4_i64 = arith.constant 4 : i64
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "N"
  %1 = tile.div %0, %c4_i64 : i64
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %1 by 16) {
    %2 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %3 = math.tanh %2 : tensor<16xf32, #tile.axes<"i">>
    %4 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 1)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %5 = math.tanh %4 : tensor<16xf32, #tile.axes<"i">>
    %6 = arith.addf %3, %5 : tensor<16xf32, #tile.axes<"i">>
    %7 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 2)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %8 = math.tanh %7 : tensor<16xf32, #tile.axes<"i">>
    %9 = arith.addf %6, %8 : tensor<16xf32, #tile.axes<"i">>
    %10 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 3)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %11 = math.tanh %10 : tensor<16xf32, #tile.axes<"i">>
    %12 = arith.addf %9, %11 : tensor<16xf32, #tile.axes<"i">>
    tile.store %12, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<16xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 16>)
  }
  tile.return
}

// -----

// CHECK-LABEL: define internal void @cheap.body(
// CHECK-NOT: masked.gather
// CHECK: ret void
tile.kernel @cheap(%arg0: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0 floordiv 4)>, tile.type = "f32"}) attributes {dims = ["N"]} {
  %c4_i64 = arith.constant 4 : i64
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.dim "N"
  %1 = tile.div %0, %c4_i64 : i64
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %1 by 16) {
    %2 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %3 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 1)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %4 = arith.addf %2, %3 : tensor<16xf32, #tile.axes<"i">>
    %5 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 2)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %6 = arith.addf %4, %5 : tensor<16xf32, #tile.axes<"i">>
    %7 = tile.load %arg0 at affine_map<(d0) -> (d0 * 4 + 3)>(%arg2) [] <exact> : memref<?xf32>, (!tile.span<"i", 16>) -> tensor<16xf32, #tile.axes<"i">>
    %8 = arith.addf %6, %7 : tensor<16xf32, #tile.axes<"i">>
    tile.store %8, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<16xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 16>)
  }
  tile.return
}

// -----

// Lanes that a remainder leaves neighbours are one load, and two where they pass a multiple; only those of short
// divisors are gathered.
// CHECK-LABEL: define internal void @turned.body(
// CHECK: load <16 x float>
// CHECK-COUNT-2: call <16 x float> @llvm.masked.load
// CHECK: call <16 x float> @llvm.masked.gather
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
!i = tensor<64xf32, #tile.axes<"i">>
tile.kernel @turned(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %s: i64 {tile.name = "s", tile.mode = "in"},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%s, %N] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> !i
    tile.store %t, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}

// -----

// Quotients of lanes between two multiples are one number, and what it chooses one element.
// CHECK-LABEL: define internal void @of_groups.body(
// CHECK-NOT: masked.gather
// CHECK-COUNT-2: load float,
// CHECK-NOT: masked.gather
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
#g = affine_map<()[n] -> (n floordiv 32)>
!i = tensor<64xf32, #tile.axes<"i">>
tile.kernel @of_groups(
    %x: memref<4096xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %g: memref<128xf32> {tile.name = "g", tile.mode = "in", tile.shape = #g},
    %y: memref<4096xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<4096xf32>, (!tile.span<"i", 64>) -> !i
    %s = tile.load %g at affine_map<(d0) -> (d0 floordiv 32)>(%i)[] <exact> : memref<128xf32>, (!tile.span<"i", 64>) -> !i
    %p = arith.mulf %t, %s : !i
    tile.store %p, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<4096xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
