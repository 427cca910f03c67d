// RUN: not tile-opt %s '-tile-specialize=sizes=kk=4' 2>&1 | FileCheck %s --check-prefix=BINDER
// RUN: not tile-opt %s '-tile-specialize=sizes=row=4' 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not tile-opt %s '-tile-specialize=sizes=rows=0' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not tile-opt %s '-tile-specialize=dims=M=-1' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tile-opt %s '-tile-specialize=dims=M=9223372036854775807' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not tile-opt %s '-tile-specialize=dims=M=35184372088832,N=2' 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not tile-opt %s '-tile-specialize=dims=M=many' 2>&1 | FileCheck %s --check-prefix=NUMBER

// BINDER: error: kernel `copy` has no binder `kk`
// BINDER: hint: kernel `copy` has the tile sizes rows, j
// NEAR: error: kernel `copy` has no binder `row`
// NEAR: hint: did you mean `rows`? kernel `copy` has the tile sizes rows, j
// ZERO: error: tile size 0 of `rows` is not in 1 .. 16777216
// NEGATIVE: error: an extent of `x` is -1 with these dimensions
// HUGE: error: `M` is 9223372036854775807, beyond 2^47
// BYTES: error: `x` has more bytes than an address space, 2^47, with these dimensions
// NUMBER: error: tile-specialize: `M=many` is not NAME=INTEGER

#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
tile.kernel @copy(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "rows" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %t = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"rows">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"rows", "j">>
    tile.store %t, %y at #id(%i, %j)[] : tensor<?x?xf32, #tile.axes<"rows", "j">>, memref<?x?xf32>, (!tile.span<"rows">, !tile.span<"j">)
  }
  tile.return
}
