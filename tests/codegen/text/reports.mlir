// RUN: tile-translate --tile-gpu-to-ptx -split-input-file %s | FileCheck %s

// A kernel with an assertion takes the address of its report behind the dimensions. One barrier
// tells all threads whether it failed in any; where it did, one of them speaks, and all end.

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
