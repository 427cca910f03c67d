// Sums of few columns that loops in loops carry, exchange and take from either of two branches, with a batch axis; what comes of them is an operand of another product.
// types: f32 f64 i64
// dims: B=1,3,2 M=16,1,0,5,33,40 K=1,0,5,20,33 L=2,0,1,3 N=1,2,1,4
// sizes: b=1,2,1 i=16,1,5,64 k=8,1,16,64
// range x: -1 .. 1
// range w: -1 .. 1
// tolerance: 1e-3
// runs: 14
#bkm = affine_map<()[b, m, k, l, n] -> (b, k, m)>
#bkn = affine_map<()[b, m, k, l, n] -> (b, k, n)>
#bmn = affine_map<()[b, m, k, l, n] -> (b, m, n)>
#nn = affine_map<()[b, m, k, l, n] -> (n, n)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
!bij = tensor<?x?x?x$A, #tile.axes<"b", "i", "j">>
!bin = tensor<?x?x?x$A, #tile.axes<"b", "i", "n">>
!bki = tensor<?x?x?x$T, #tile.axes<"b", "k", "i">>
!bkj = tensor<?x?x?x$T, #tile.axes<"b", "k", "j">>
!nj = tensor<?x?x$T, #tile.axes<"n", "j">>
tile.kernel @turning_columns(
    %x: memref<?x?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #bkm},
    %w: memref<?x?x?x$T> {tile.name = "w", tile.mode = "in", tile.shape = #bkn},
    %v: memref<?x?x$T> {tile.name = "v", tile.mode = "in", tile.shape = #nn},
    %y: memref<?x?x?x$A> {tile.name = "y", tile.mode = "out", tile.shape = #bmn},
    %z: memref<?x?x?x$A> {tile.name = "z", tile.mode = "out", tile.shape = #bmn})
    attributes {dims = ["B", "M", "K", "L", "N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %B = tile.dim "B"
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %L = tile.dim "L"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%b = tiles "b" %c0 to %B, %i = tiles "i" %c0 to %M) {
    %j = tile.axis %c0 to %N : !tile.span<"j">
    %zero = arith.constant $Z : $A
    %none = tile.broadcast %zero : $A to !bij
    %nothing = tile.broadcast %zero : $A to !bin
    %outer:2 = scf.for %l = %c0 to %L step %c1 iter_args(%p = %none, %q = %none) -> (!bij, !bij) : i64 {
      %inner:2 = tile.for fold %k = "k" %c0 to %K iter_args(%s = %p : !bij, %t = %q : !bij) {
        %tx = tile.load %x at #id3(%b, %k, %i)[] <exact> : memref<?x?x?x$T>, (!tile.span<"b">, !tile.span<"k">, !tile.span<"i">) -> !bki
        %tw = tile.load %w at #id3(%b, %k, %j)[] <exact> : memref<?x?x?x$T>, (!tile.span<"b">, !tile.span<"k">, !tile.span<"j">) -> !bkj
        %d = tile.dot %tx, %tw over "k" acc %s : !bki, !bkj -> !bij
        tile.yield %t, %d : !bij, !bij
      }
      %odd = tile.rem %l, %c2 : i64
      %isOdd = arith.cmpi ne, %odd, %c0 : i64
      %r = scf.if %isOdd -> (!bij) {
        scf.yield %inner#0 : !bij
      } else {
        scf.yield %inner#1 : !bij
      }
      scf.yield %r, %inner#0 : !bij, !bij
    }
    %tv = tile.load %v at #id2(%n, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"n">, !tile.span<"j">) -> !nj
    %o = tile.dot %outer#0, %tv over "j" acc %nothing : !bij, !nj -> !bin
    tile.store %o, %y at #id3(%b, %i, %n)[] : !bin, memref<?x?x?x$A>, (!tile.span<"b">, !tile.span<"i">, !tile.span<"n">)
    tile.store %outer#1, %z at #id3(%b, %i, %j)[] : !bij, memref<?x?x?x$A>, (!tile.span<"b">, !tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
