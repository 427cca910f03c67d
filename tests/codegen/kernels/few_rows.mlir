// A few rows times long ones, along and across them, of operands that are computed: of what each
// k has, and of what each column has.
// types: f32 f64
// dims: M=1,2,3,5,12,20,24,25 K=8,1,3,4,7,16,23,40,300 N=16,1,5,17,40,130
// sizes: i=1,4,8,12,24,48 j=16,4,32,128 k=8,3,64,256
// tolerance: 1e-4
// runs: 60
#mk = affine_map<()[m, k, n] -> (m, k)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#nk = affine_map<()[m, k, n] -> (n, k)>
#ks = affine_map<()[m, k, n] -> (k)>
#ns = affine_map<()[m, k, n] -> (n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
!ij = tensor<?x?x$T, #tile.axes<"i", "j">>
!ik = tensor<?x?x$T, #tile.axes<"i", "k">>
!kj = tensor<?x?x$T, #tile.axes<"k", "j">>
!jk = tensor<?x?x$T, #tile.axes<"j", "k">>
tile.kernel @few_rows(
    %a: memref<?x?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?x$T> {tile.name = "c", tile.mode = "in", tile.shape = #nk},
    %s: memref<?x$T> {tile.name = "s", tile.mode = "in", tile.shape = #ks},
    %t: memref<?x$T> {tile.name = "t", tile.mode = "in", tile.shape = #ns},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #mn},
    %z: memref<?x?x$T> {tile.name = "z", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant $Z : $T
    %init = tile.broadcast %zero : $T to !ij
    %sums:2 = tile.for fold %k = "k" %c0 to %K iter_args(%first = %init : !ij, %second = %init : !ij) {
      %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"k">) -> !ik
      %tb = tile.load %b at #id(%k, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"k">, !tile.span<"j">) -> !kj
      %tc = tile.load %c at #id(%j, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"j">, !tile.span<"k">) -> !jk
      %ts = tile.load %s at #one(%k)[] <exact> : memref<?x$T>, (!tile.span<"k">) -> tensor<?x$T, #tile.axes<"k">>
      %tt = tile.load %t at #one(%j)[] <exact> : memref<?x$T>, (!tile.span<"j">) -> tensor<?x$T, #tile.axes<"j">>
      %ofK = tile.broadcast %ts : tensor<?x$T, #tile.axes<"k">> to !kj
      %ofJ = tile.broadcast %tt : tensor<?x$T, #tile.axes<"j">> to !jk
      %scaled = arith.mulf %tb, %ofK : !kj
      %moved = arith.addf %tc, %ofJ : !jk
      %bent = math.tanh %ta : !ik
      %p = tile.dot %bent, %scaled over "k" acc %first : !ik, !kj -> !ij
      %q = tile.dot %ta, %moved over "k" acc %second : !ik, !jk -> !ij
      tile.yield %p, %q : !ij, !ij
    }
    tile.store %sums#0, %y at #id(%i, %j)[] : !ij, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">)
    tile.store %sums#1, %z at #id(%i, %j)[] : !ij, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
