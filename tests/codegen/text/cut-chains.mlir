// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Two functions in a row: the first is computed for 64 vectors, into room for twice as many, before the maximum goes on
// with the second, in a loop of its own.

// CHECK-LABEL: define internal void @rows.body(
// CHECK: and i64 %{{.*}}, 2032
// CHECK-NEXT: getelementptr
// CHECK: store <16 x i32>
// CHECK-NOT: store <16 x i32>
// CHECK: and i64 %{{.*}}, 2032
// CHECK: load <16 x float>
// CHECK: call <16 x float> @llvm.x86.avx512.mask.range.ps.512(
// CHECK: ret void

// One by itself is computed where it is needed.

// CHECK-LABEL: define internal void @single.body(
// CHECK-NOT: and i64 %{{.*}}, 2032
// CHECK: call <16 x float> @llvm.x86.avx512.mask.range.ps.512(
// CHECK: ret void
#id = affine_map<(d0, d1) -> (d0, d1)>
#own = affine_map<(d0) -> (d0)>
!f = tensor<16x?xf32, #tile.axes<"i", "N">>
!r = tensor<16xf32, #tile.axes<"i">>
tile.kernel @rows(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M by 16) {
    %t = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"N">) -> !f
    %u = math.tanh %t : !f
    %v = math.exp %u : !f
    %w = tile.reduce <max> %v over ["N"] : !f -> !r
    tile.store %w, %s at #own(%i)[] : !r, memref<?xf32>, (!tile.span<"i", 16>)
  }
  tile.return
}
tile.kernel @single(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M by 16) {
    %t = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"N">) -> !f
    %u = math.tanh %t : !f
    %v = arith.addf %u, %t : !f
    %w = tile.reduce <max> %v over ["N"] : !f -> !r
    tile.store %w, %s at #own(%i)[] : !r, memref<?xf32>, (!tile.span<"i", 16>)
  }
  tile.return
}
