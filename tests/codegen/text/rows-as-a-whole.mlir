// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Sums of rows of three: lanes go from row to row, sixteen rows come as three vectors, one after the other, and each
// element of a row is picked out of them. What is left of a block is gathered.

// CHECK-LABEL: define internal void @sums.body(
// CHECK: %[[ROWS:[0-9]+]] = load <48 x float>
// CHECK-NEXT: shufflevector <48 x float> %[[ROWS]], {{.*}} <i32 0, i32 3, i32 6,
// CHECK: shufflevector <48 x float> %[[ROWS]], {{.*}} <i32 1, i32 4, i32 7,
// CHECK: shufflevector <48 x float> %[[ROWS]], {{.*}} <i32 2, i32 5, i32 8,
// CHECK: llvm.masked.gather.v16f32
// CHECK: ret void
!rows = tensor<64x3xf32, #tile.axes<"i", "d">>
!sums = tensor<64xf32, #tile.axes<"i">>
tile.kernel @sums(
    %x: memref<?x3xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, 3)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %d = tile.axis %c0 to %c3 : !tile.span<"d", 3>
    %t = tile.load %x at affine_map<(i, d) -> (i, d)>(%i, %d) [] <exact> : memref<?x3xf32>, (!tile.span<"i", 64>, !tile.span<"d", 3>) -> !rows
    %u = tile.reduce <add> %t over ["d"] : !rows -> !sums
    tile.store %u, %s at affine_map<(i) -> (i)>(%i) [] : !sums, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
