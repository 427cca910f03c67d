// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Programs follow each other along the rows of a block that is read across, 16 blocks of them, though the
// kernel counts the 32 along the other axis first.

// CHECK-LABEL: define internal void @across.body(
// CHECK-NOT: sdiv i64 %{{.*}}, 32
// CHECK: sdiv i64 %{{.*}}, 16
// CHECK: ret void
tile.kernel @across(%x: memref<2048x1024xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<() -> (2048, 1024)>, tile.type = "f32"}, %y: memref<1024x2048xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<() -> (1024, 2048)>, tile.type = "f32"}) attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  %M = arith.constant 1024 : i64
  %N = arith.constant 2048 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 64) {
    %rows = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%j, %i) [] <exact> : memref<2048x1024xf32>, (!tile.span<"j", 64>, !tile.span<"i", 64>) -> tensor<64x64xf32, #tile.axes<"j", "i">>
    %t = tile.broadcast %rows : tensor<64x64xf32, #tile.axes<"j", "i">> to tensor<64x64xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : tensor<64x64xf32, #tile.axes<"i", "j">>, memref<1024x2048xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// Programs that may stop others keep their order.

// CHECK-LABEL: define internal void @checked.body(
// CHECK: sdiv i64 %{{.*}}, 32
// CHECK: ret void
tile.kernel @checked(%x: memref<2048x1024xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<() -> (2048, 1024)>, tile.type = "f32"}, %y: memref<1024x2048xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<() -> (1024, 2048)>, tile.type = "f32"}, %ok: i1 {tile.mode = "in", tile.name = "ok", tile.type = "bool"}) attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  %M = arith.constant 1024 : i64
  %N = arith.constant 2048 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 64) {
    tile.assert %ok, "no" : i1
    %rows = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%j, %i) [] <exact> : memref<2048x1024xf32>, (!tile.span<"j", 64>, !tile.span<"i", 64>) -> tensor<64x64xf32, #tile.axes<"j", "i">>
    %t = tile.broadcast %rows : tensor<64x64xf32, #tile.axes<"j", "i">> to tensor<64x64xf32, #tile.axes<"i", "j">>
    tile.store %t, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : tensor<64x64xf32, #tile.axes<"i", "j">>, memref<1024x2048xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}
