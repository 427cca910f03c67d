// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// What is kept for a maximum and stored, too, is stored as it is made; only where the tensor is so long that stores
// go past the caches, it is read again for that.

// CHECK-LABEL: define internal void @both.body(
// CHECK: %[[LARGE:[0-9]+]] = icmp sgt i64 %{{.*}}, 67108863
// CHECK: store <16 x float> %[[MADE:[0-9]+]],
// CHECK-NEXT: br i1 %[[LARGE]]
// CHECK: store <16 x float> %[[MADE]],
// CHECK: call <16 x float> @llvm.x86.avx512.mask.range.ps.512({{.*}}, <16 x float> %[[MADE]], i32

// What lanes have is joined in vectors that become shorter.
// CHECK: call <8 x float> @llvm.x86.avx512.mask.range.ps.256(
// CHECK-COUNT-3: call <4 x float> @llvm.x86.avx512.mask.range.ps.128(
// CHECK: br i1 %[[LARGE]]
// CHECK: store <16 x float> {{.*}}!nontemporal
#at = affine_map<(i, g, c) -> (i, g * 32 + c)>
!all = tensor<16x16x32xf32, #tile.axes<"i", "g", "c">>
!rows = tensor<16x16xf32, #tile.axes<"i", "g">>
tile.kernel @both(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %s: memref<?x?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m, n floordiv 32)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %G = tile.div %N, %c32 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 16, %g = tiles "g" %c0 to %G by 16) {
    %c = tile.axis %c0 to %c32 : !tile.span<"c", 32>
    %t = tile.load %x at #at(%i, %g, %c) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"g", 16>, !tile.span<"c", 32>) -> !all
    %u = math.exp %t : !all
    %m = tile.reduce <max> %u over ["c"] : !all -> !rows
    tile.store %u, %y at #at(%i, %g, %c) [] : !all, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"g", 16>, !tile.span<"c", 32>)
    tile.store %m, %s at affine_map<(i, g) -> (i, g)>(%i, %g) [] : !rows, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"g", 16>)
  }
  tile.return
}
