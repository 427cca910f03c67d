// A loop that adds products of one column: its sums lie along the rows where those are neighbours in memory.
// types: f32 f64 f16
// dims: M=40,1,0,17,33,40 K=1,0,5,64,130,1 N=1,2,1
// sizes: i=40,1,16,64 j=1,4,1 k=64,1,16
// tolerance: 1e-4
// runs: 24
#km = affine_map<()[m, k, n] -> (k, m)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#m = affine_map<()[m, k, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?x$A, #tile.axes<"i", "j">>
!ki = tensor<?x?x$T, #tile.axes<"k", "i">>
!kj = tensor<?x?x$T, #tile.axes<"k", "j">>
tile.kernel @one_column(
    %a: memref<?x?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #km},
    %b: memref<?x?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?x$A> {tile.name = "c", tile.mode = "out", tile.shape = #mn},
    %s: memref<?x?x$A> {tile.name = "s", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant $Z : $A
    %init = tile.broadcast %zero : $A to !ij
    %acc, %most = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : !ij, %top = %init : !ij) {
      %ta = tile.load %a at #id(%k, %i)[] <exact> : memref<?x?x$T>, (!tile.span<"k">, !tile.span<"i">) -> !ki
      %tb = tile.load %b at #id(%k, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"k">, !tile.span<"j">) -> !kj
      %p = tile.dot %ta, %tb over "k" acc %sum : !ki, !kj -> !ij
      %t = arith.maximumf %top, %p : !ij
      tile.yield %p, %t : !ij, !ij
    }
    tile.store %acc, %c at #id(%i, %j)[] : !ij, memref<?x?x$A>, (!tile.span<"i">, !tile.span<"j">)
    tile.store %most, %s at #id(%i, %j)[] : !ij, memref<?x?x$A>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
