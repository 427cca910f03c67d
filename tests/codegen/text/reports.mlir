// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s
// RUN: tile-translate --tile-gpu-to-llvm -split-input-file %s | FileCheck %s --check-prefix=LLVM

// A kernel with an assertion takes the address of its report behind the dimensions. One barrier
// tells all threads whether it failed in any; where it did, one of them speaks, and all end.

// LLVM-LABEL: define ptx_kernel void @checked(
// LLVM: asm sideeffect {{.*}}bar.red.or.pred{{.*}} #[[MEETING:[0-9]+]]
// LLVM: attributes #[[MEETING]] = { {{.*}}convergent

// CHECK: .visible .entry checked(
// CHECK: .param .u64 .ptr .global{{.*}} checked_param_3
// CHECK-NOT: checked_param_4
// CHECK: bar.red.or.pred
// CHECK: atom.acquire.gpu.global.cas.b64
// CHECK: st.relaxed.gpu.global.b64
// CHECK: atom.release.gpu.global.exch.b64
tile.kernel @checked(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 256) {
    %t = tile.load %x at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 256>) -> tensor<256xf32, #tile.axes<"i">>
    %z = tile.broadcast %zero : f32 to tensor<256xf32, #tile.axes<"i">>
    %h = arith.cmpf ogt, %t, %z : tensor<256xf32, #tile.axes<"i">>
    tile.assert %h, "positive" : tensor<256xi1, #tile.axes<"i">>
    tile.store %t, %y at affine_map<(i) -> (i)>(%i) [] : tensor<256xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 256>)
  }
  tile.return
}

// -----

// A watched kernel takes room for a record for each program, and for each access once: the row is
// read in two loops, and noted in the first.

// CHECK: .visible .entry watched(
// CHECK-COUNT-3: atom.relaxed.gpu.global.add.u64
// CHECK-NOT: atom.relaxed.gpu.global.add.u64
tile.kernel @watched(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>})
    attributes {dims = ["M", "N"], tile_gpu.watched} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">) -> tensor<1x?xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x?xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x?xf32, #tile.axes<"i", "n">>
    %d = arith.divf %t, %b : tensor<1x?xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x?xf32, #tile.axes<"i", "n">>, memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">)
  }
  tile.return
}

// -----

// Updates are noted too, those of the output itself and those of the block's copy, and are carried
// out inside the output alone.

// CHECK: .visible .entry counted(
// CHECK-COUNT-5: atom.relaxed.gpu.global.add.u64
// CHECK-NOT: atom.relaxed.gpu.global.add.u64
// CHECK: .visible .entry counted_start(
tile.kernel @counted(
    %b: memref<?xi32> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m] -> (m)>, tile.type = "i32"},
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m)>, tile.type = "f32"},
    %c: memref<8xi32> {tile.name = "c", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m] -> (8)>, tile.type = "i32"},
    %h: memref<8xf32> {tile.name = "h", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m] -> (8)>, tile.type = "f32"})
    attributes {dims = ["M"], tile_gpu.watched} {
  %c0 = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    %t = tile.load %b at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xi32>, (!tile.span<"i", 64>) -> tensor<64xi32, #tile.axes<"i">>
    %k = arith.extsi %t : tensor<64xi32, #tile.axes<"i">> to tensor<64xi64, #tile.axes<"i">>
    %ones = tile.broadcast %one : i32 to tensor<64xi32, #tile.axes<"i">>
    tile.update <add> %ones, %c at affine_map<(k) -> (k)>(%k) [] : tensor<64xi32, #tile.axes<"i">>, memref<8xi32>, (tensor<64xi64, #tile.axes<"i">>)
    %v = tile.load %x at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    tile.update <add> %v, %h at affine_map<(k) -> (k)>(%k) [] : tensor<64xf32, #tile.axes<"i">>, memref<8xf32>, (tensor<64xi64, #tile.axes<"i">>)
  }
  tile.return
}
