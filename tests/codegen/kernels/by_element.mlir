// What a few rows come to is stored element by element and read as a vector: numbers of any width,
// truths, and what a loop carries.
// types: f32 f64 f16 bf16
// dims: M=16,1,5,7,33 N=16,1,3,40,130
// sizes: i=16,1,3,5,8,17 k=16,1,7,64
// runs: 30
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
!in = tensor<?x?x$T, #tile.axes<"i", "N">>
!ik = tensor<?x?x$T, #tile.axes<"i", "k">>
!i = tensor<?x$T, #tile.axes<"i">>
!truths = tensor<?x?xi1, #tile.axes<"i", "N">>
!truth = tensor<?xi1, #tile.axes<"i">>
tile.kernel @by_element(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "in", tile.shape = #mn},
    %at: memref<?x$T> {tile.name = "at", tile.mode = "out", tile.shape = #m},
    %same: memref<?xi1> {tile.name = "same", tile.mode = "out", tile.shape = #m},
    %last: memref<?x$T> {tile.name = "last", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %ty = tile.load %y at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %top = tile.reduce <max> %tx over ["N"] : !in -> !i
    %low = tile.reduce <min> %ty over ["N"] : !in -> !i
    %above = arith.cmpf ogt, %tx, %ty : !in
    %any = tile.reduce <or> %above over ["N"] : !truths -> !truth
    %zero = arith.constant 0.0 : $T
    %init = tile.broadcast %zero : $T to !i
    %most = tile.for reassociable %k = "k" %c0 to %N iter_args(%sofar = %init : !i) {
      %tk = tile.load %x at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"k">) -> !ik
      %here = tile.reduce <max> %tk over ["k"] : !ik -> !i
      %next = arith.maximumf %sofar, %here : !i
      tile.yield %next : !i
    }
    %chosen = arith.select %any, %top, %low : !truth, !i
    %half = arith.subf %chosen, %most : !i
    tile.store %chosen, %at at #id1(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    tile.store %any, %same at #id1(%i)[] : !truth, memref<?xi1>, (!tile.span<"i">)
    tile.store %half, %last at #id1(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
  }
  tile.return
}
