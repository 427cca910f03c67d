// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Sums of a few rows are stored one by one. Read as a vector they would wait for all stores before them: their lanes
// are read one by one, too, by loads that nothing merges.
// CHECK-LABEL: define internal void @few.body(
// CHECK-COUNT-4: load atomic float, ptr %{{.*}} monotonic
// CHECK-NOT: load
// CHECK: call <16 x float> @llvm.sqrt.v16f32
// CHECK: ret void
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @few(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"n">) -> tensor<4x?xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <max> %t over ["n"] : tensor<4x?xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    %r = math.sqrt %s : tensor<4xf32, #tile.axes<"i">>
    tile.store %r, %y at affine_map<(i) -> (i)>(%i) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

// With many rows the wait is a small part of what a program takes.
// CHECK-LABEL: define internal void @many.body(
// CHECK-NOT: load atomic
// CHECK: ret void
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @many(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 17) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 17>, !tile.span<"n">) -> tensor<17x?xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <max> %t over ["n"] : tensor<17x?xf32, #tile.axes<"i", "n">> -> tensor<17xf32, #tile.axes<"i">>
    %r = math.sqrt %s : tensor<17xf32, #tile.axes<"i">>
    tile.store %r, %y at affine_map<(i) -> (i)>(%i) [] : tensor<17xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 17>)
  }
  tile.return
}

// -----

// What is kept of rows is read where those of the next program are asked for: those that it is made of.
// CHECK-LABEL: define internal void @kept.body(
// CHECK: call void @llvm.prefetch
// CHECK-NEXT: getelementptr
// CHECK: call void @llvm.prefetch
// CHECK: ret void
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
!rows = tensor<1x?xf32, #tile.axes<"i", "n">>
!sums = tensor<1xf32, #tile.axes<"i">>
tile.kernel @kept(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %r: memref<?x?xf32> {tile.name = "r", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">) -> !rows
    %u = tile.load %r at #id(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">) -> !rows
    %a = arith.addf %t, %u : !rows
    %e = math.sqrt %a : !rows
    %s = tile.reduce <max> %e over ["n"] : !rows -> !sums
    %b = tile.broadcast %s : !sums to !rows
    %d = arith.subf %e, %b : !rows
    tile.store %d, %y at #id(%i, %n) [] : !rows, memref<?x?xf32>, (!tile.span<"i", 1>, !tile.span<"n">)
  }
  tile.return
}
