// Products of a few rows, columns and terms: operands in both orders, what comes of them as an operand.
// types: f32 f64
// dims: M=4,1,2,3,5,8,4 K=4,1,2,3,8,17,4 N=3,1,2,4,6,8,16,3 D=8,1,2,4,33,8
// sizes: i=4,1,2,8 d=8,1,2,4,64,8
// tolerance: 1e-4
// runs: 40
#mk = affine_map<()[m, k, n, d] -> (m, k)>
#km = affine_map<()[m, k, n, d] -> (k, m)>
#nk = affine_map<()[m, k, n, d] -> (n, k)>
#dn = affine_map<()[m, k, n, d] -> (d, n)>
#md = affine_map<()[m, k, n, d] -> (m, d)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ik = tensor<?x?x$T, #tile.axes<"i", "K">>
!ki = tensor<?x?x$T, #tile.axes<"K", "i">>
!jk = tensor<?x?x$T, #tile.axes<"J", "K">>
!dj = tensor<?x?x$T, #tile.axes<"d", "J">>
!ij = tensor<?x?x$A, #tile.axes<"i", "J">>
!id = tensor<?x?x$A, #tile.axes<"i", "d">>
tile.kernel @short_products(
    %a: memref<?x?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #km},
    %c: memref<?x?x$T> {tile.name = "c", tile.mode = "in", tile.shape = #nk},
    %v: memref<?x?x$T> {tile.name = "v", tile.mode = "in", tile.shape = #dn},
    %y: memref<?x?x$A> {tile.name = "y", tile.mode = "out", tile.shape = #md})
    attributes {dims = ["M", "K", "N", "D"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %D = tile.dim "D"
  %Kd = tile.dim "K"
  %k = tile.axis %c0 to %Kd : !tile.span<"K">
  %j = tile.axis %c0 to %N : !tile.span<"J">
  tile.parallel (%i = tiles "i" %c0 to %M, %d = tiles "d" %c0 to %D) {
    %zero = arith.constant $Z : $A
    %none = tile.broadcast %zero : $A to !ij
    %nothing = tile.broadcast %zero : $A to !id
    %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !ik
    %tb = tile.load %b at #id(%k, %i)[] <exact> : memref<?x?x$T>, (!tile.span<"K">, !tile.span<"i">) -> !ki
    %tc = tile.load %c at #id(%j, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"J">, !tile.span<"K">) -> !jk
    %tv = tile.load %v at #id(%d, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"d">, !tile.span<"J">) -> !dj
    %s = tile.dot %ta, %tc over "K" acc %none : !ik, !jk -> !ij
    %t = tile.dot %tb, %tc over "K" acc %s : !ki, !jk -> !ij
    %p = tile.dot %t, %tv over "J" acc %nothing : !ij, !dj -> !id
    tile.store %p, %y at #id(%i, %d)[] : !id, memref<?x?x$A>, (!tile.span<"i">, !tile.span<"d">)
  }
  tile.return
}
