// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Rows of eight, one after the other in memory: each is a vector of eight, not a masked part of sixteen lanes, whose
// neighbours would wait for what is written of it; nor lanes that go from row to row.

// CHECK-LABEL: define internal void @scaled.body(
// CHECK-NOT: masked
// CHECK: load <8 x float>
// CHECK-NOT: masked
// CHECK: store <8 x float>
// CHECK-NOT: masked
// CHECK: ret void

// Where rows have four elements, lanes go from row to row: sixteen rows are read and stored as four vectors, and what is left
// behind the last sixteen is stored as parts of four.

// CHECK-LABEL: define internal void @costly.body(
// CHECK-NOT: masked
// CHECK: load <64 x float>
// CHECK: call <16 x float> @llvm.fma.v16f32
// CHECK-NOT: masked
// CHECK-COUNT-4: store <16 x float>
// CHECK-COUNT-4: call void @llvm.masked.store.v16f32
// CHECK: ret void
#at = affine_map<(i, d) -> (i, d)>
!tile = tensor<64x4xf32, #tile.axes<"i", "d">>
!wide = tensor<64x8xf32, #tile.axes<"i", "d">>
tile.kernel @scaled(
    %x: memref<?x8xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, 8)>},
    %y: memref<?x8xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[n] -> (n, 8)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64, %d = tiles "d" %c0 to %c8 by 8) {
    %t = tile.load %x at #at(%i, %d) [] <exact> : memref<?x8xf32>, (!tile.span<"i", 64>, !tile.span<"d", 8>) -> !wide
    %u = arith.addf %t, %t : !wide
    tile.store %u, %y at #at(%i, %d) [] : !wide, memref<?x8xf32>, (!tile.span<"i", 64>, !tile.span<"d", 8>)
  }
  tile.return
}
tile.kernel @costly(
    %x: memref<?x4xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, 4)>},
    %y: memref<?x4xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[n] -> (n, 4)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64, %d = tiles "d" %c0 to %c4 by 4) {
    %t = tile.load %x at #at(%i, %d) [] <exact> : memref<?x4xf32>, (!tile.span<"i", 64>, !tile.span<"d", 4>) -> !tile
    %u = math.sin %t : !tile
    tile.store %u, %y at #at(%i, %d) [] : !tile, memref<?x4xf32>, (!tile.span<"i", 64>, !tile.span<"d", 4>)
  }
  tile.return
}
