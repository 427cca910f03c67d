// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Much is computed of each element: a nest asks for those of its own rounds to come, 2 KB ahead.
// CHECK-LABEL: define internal void @dear.body(
// CHECK: %[[AHEAD:.*]] = getelementptr {{.*}}, i64 2048
// CHECK: %[[PLACE:.*]] = getelementptr float, ptr %[[AHEAD]]
// CHECK-NEXT: call void @llvm.prefetch.p0(ptr %[[PLACE]], i32 0, i32 3, i32 1)
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
!i = tensor<256xf32, #tile.axes<"i">>
tile.kernel @dear(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 256) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 256>) -> !i
    %e = math.tanh %t : !i
    tile.store %e, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 256>)
  }
  tile.return
}

// -----

// Little is: a core reads ahead by itself.
// CHECK-LABEL: define internal void @cheap.body(
// CHECK-NOT: @llvm.prefetch
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
!i = tensor<256xf32, #tile.axes<"i">>
tile.kernel @cheap(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 256) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 256>) -> !i
    %e = arith.addf %t, %t : !i
    tile.store %e, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 256>)
  }
  tile.return
}

// -----

// Much is computed of a sum, but not of the elements that are added.
// CHECK-LABEL: define internal void @of_sums.body(
// CHECK-NOT: @llvm.prefetch
// CHECK: ret void
#m = affine_map<()[m, n] -> (m)>
#mn = affine_map<()[m, n] -> (m, n)>
!ij = tensor<16x?xf32, #tile.axes<"i", "N">>
!i = tensor<16xf32, #tile.axes<"i">>
tile.kernel @of_sums(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #m}) attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M by 16) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"N">) -> !ij
    %s = tile.reduce <add> %t over ["N"] : !ij -> !i
    %e = math.tanh %s : !i
    tile.store %e, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 16>)
  }
  tile.return
}

// -----

// It counts by whichever way an element is reached.
// CHECK-LABEL: define internal void @dear_first.body(
// CHECK: call void @llvm.prefetch
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
!i = tensor<256xf32, #tile.axes<"i">>
tile.kernel @dear_first(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 256) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 256>) -> !i
    %e = math.tanh %t : !i
    %p = arith.mulf %e, %t : !i
    tile.store %p, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 256>)
  }
  tile.return
}

// -----

// It counts, too, where the cheap way is written first.
// CHECK-LABEL: define internal void @dear_last.body(
// CHECK: call void @llvm.prefetch
// CHECK: ret void
#n = affine_map<()[n] -> (n)>
!i = tensor<256xf32, #tile.axes<"i">>
tile.kernel @dear_last(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 256) {
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 256>) -> !i
    %e = math.tanh %t : !i
    %p = arith.mulf %t, %e : !i
    tile.store %p, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 256>)
  }
  tile.return
}

// -----

// Behind the rows of a narrow block is what other programs read: it asks for the next program's, 64 elements on.
// CHECK-LABEL: define internal void @narrow.body(
// CHECK-NOT: i64 2048
// CHECK: select i1 {{.*}}, i64 64, i64
// CHECK: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
// CHECK: ret void
#mn = affine_map<()[m, n] -> (m, n)>
!ij = tensor<16x64xf32, #tile.axes<"i", "j">>
tile.kernel @narrow(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn}) attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 16, %j = tiles "j" %c0 to %N by 64) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"j", 64>) -> !ij
    %e = math.tanh %t : !ij
    tile.store %e, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] : !ij, memref<?x?xf32>, (!tile.span<"i", 16>, !tile.span<"j", 64>)
  }
  tile.return
}
