// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 -split-input-file %s | FileCheck %s

// Rows of scratch that lay apart by a multiple of many lines of a cache would all fall on few of its sets: long ones
// have 16 elements more, here eight of 2048 + 16 numbers; short ones have room for whole vectors.
// CHECK-LABEL: define i64 @long.scratch(
// CHECK: mul {{.*}}, 8256
// CHECK: ret
#id = affine_map<(d0, d1) -> (d0, d1)>
#mn = affine_map<()[m] -> (m, 2048)>
!t = tensor<8x2048xf32, #tile.axes<"i", "N">>
tile.kernel @long(
    %x: memref<?x2048xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x2048xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn}) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c2048 = arith.constant 2048 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c2048 : !tile.span<"N", 2048>
  tile.parallel (%i = tiles "i" %c0 to %M by 8) {
    %v = tile.load %x at #id(%i, %n)[] <exact> : memref<?x2048xf32>, (!tile.span<"i", 8>, !tile.span<"N", 2048>) -> !t
    %e = math.exp %v : !t
    %s = tile.reduce <add> %e over ["N"] : !t -> tensor<8xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<8xf32, #tile.axes<"i">> to !t
    %q = arith.divf %e, %b : !t
    tile.store %q, %y at #id(%i, %n)[] : !t, memref<?x2048xf32>, (!tile.span<"i", 8>, !tile.span<"N", 2048>)
  }
  tile.return
}

// -----

// CHECK-LABEL: define i64 @short.scratch(
// CHECK: shl {{.*}}, 10
// CHECK: ret
#id = affine_map<(d0, d1) -> (d0, d1)>
#mn = affine_map<()[m] -> (m, 256)>
!t = tensor<8x256xf32, #tile.axes<"i", "N">>
tile.kernel @short(
    %x: memref<?x256xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x256xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn}) attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c256 = arith.constant 256 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c256 : !tile.span<"N", 256>
  tile.parallel (%i = tiles "i" %c0 to %M by 8) {
    %v = tile.load %x at #id(%i, %n)[] <exact> : memref<?x256xf32>, (!tile.span<"i", 8>, !tile.span<"N", 256>) -> !t
    %e = math.exp %v : !t
    %s = tile.reduce <add> %e over ["N"] : !t -> tensor<8xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<8xf32, #tile.axes<"i">> to !t
    %q = arith.divf %e, %b : !t
    tile.store %q, %y at #id(%i, %n)[] : !t, memref<?x256xf32>, (!tile.span<"i", 8>, !tile.span<"N", 256>)
  }
  tile.return
}
