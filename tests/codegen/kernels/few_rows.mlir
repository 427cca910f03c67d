// A few rows times long ones, along and across them, of operands that are computed: of what each
// k has, of what each column has, and of what each product has. What is added to each factor is
// small: sums of 300 terms then grow no larger than other kernels' do, and are rounded no more.
// types: f32 f64 f16
// dims: B=1,2,3 M=1,2,3,5,12,20,24,25 K=8,1,3,4,7,16,23,40,300 N=16,1,5,17,40,130
// sizes: p=2,1,3 i=1,4,8,12,24,48 j=16,4,32,128 k=8,3,64,256
// range t: -0.5 .. 0.5
// range u: -0.5 .. 0.5
// tolerance: 1e-4
// runs: 70
#mk = affine_map<()[b, m, k, n] -> (b, m, k)>
#kn = affine_map<()[b, m, k, n] -> (b, k, n)>
#nk = affine_map<()[b, m, k, n] -> (b, n, k)>
#ks = affine_map<()[b, m, k, n] -> (k)>
#ns = affine_map<()[b, m, k, n] -> (n)>
#mn = affine_map<()[b, m, k, n] -> (b, m, n)>
#bs = affine_map<()[b, m, k, n] -> (b)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#one = affine_map<(d0) -> (d0)>
!ij = tensor<?x?x?x$A, #tile.axes<"p", "i", "j">>
!ik = tensor<?x?x?x$T, #tile.axes<"p", "i", "k">>
!kj = tensor<?x?x?x$T, #tile.axes<"p", "k", "j">>
!jk = tensor<?x?x?x$T, #tile.axes<"p", "j", "k">>
tile.kernel @few_rows(
    %a: memref<?x?x?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?x?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?x?x$T> {tile.name = "c", tile.mode = "in", tile.shape = #nk},
    %s: memref<?x$T> {tile.name = "s", tile.mode = "in", tile.shape = #ks},
    %t: memref<?x$T> {tile.name = "t", tile.mode = "in", tile.shape = #ns},
    %u: memref<?x$T> {tile.name = "u", tile.mode = "in", tile.shape = #bs},
    %y: memref<?x?x?x$A> {tile.name = "y", tile.mode = "out", tile.shape = #mn},
    %z: memref<?x?x?x$A> {tile.name = "z", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["B", "M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%p = tiles "p" %c0 to %B, %i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant $Z : $A
    %init = tile.broadcast %zero : $A to !ij
    %sums:2 = tile.for fold %k = "k" %c0 to %K iter_args(%first = %init : !ij, %second = %init : !ij) {
      %ta = tile.load %a at #id(%p, %i, %k)[] <exact> : memref<?x?x?x$T>, (!tile.span<"p">, !tile.span<"i">, !tile.span<"k">) -> !ik
      %tb = tile.load %b at #id(%p, %k, %j)[] <exact> : memref<?x?x?x$T>, (!tile.span<"p">, !tile.span<"k">, !tile.span<"j">) -> !kj
      %tc = tile.load %c at #id(%p, %j, %k)[] <exact> : memref<?x?x?x$T>, (!tile.span<"p">, !tile.span<"j">, !tile.span<"k">) -> !jk
      %ts = tile.load %s at #one(%k)[] <exact> : memref<?x$T>, (!tile.span<"k">) -> tensor<?x$T, #tile.axes<"k">>
      %tt = tile.load %t at #one(%j)[] <exact> : memref<?x$T>, (!tile.span<"j">) -> tensor<?x$T, #tile.axes<"j">>
      %tu = tile.load %u at #one(%p)[] <exact> : memref<?x$T>, (!tile.span<"p">) -> tensor<?x$T, #tile.axes<"p">>
      %twice = arith.addf %tu, %tu : tensor<?x$T, #tile.axes<"p">>
      %ofP = tile.broadcast %twice : tensor<?x$T, #tile.axes<"p">> to !kj
      %ofPToo = tile.broadcast %twice : tensor<?x$T, #tile.axes<"p">> to !jk
      %ofK = tile.broadcast %ts : tensor<?x$T, #tile.axes<"k">> to !kj
      %ofJ = tile.broadcast %tt : tensor<?x$T, #tile.axes<"j">> to !jk
      %ofBoth = arith.addf %ofK, %ofP : !kj
      %scaled = arith.mulf %tb, %ofBoth : !kj
      %ofOthers = arith.addf %ofJ, %ofPToo : !jk
      %moved = arith.addf %tc, %ofOthers : !jk
      %bent = math.tanh %ta : !ik
      %ab = tile.dot %bent, %scaled over "k" acc %first : !ik, !kj -> !ij
      %ac = tile.dot %ta, %moved over "k" acc %second : !ik, !jk -> !ij
      tile.yield %ab, %ac : !ij, !ij
    }
    tile.store %sums#0, %y at #id(%p, %i, %j)[] : !ij, memref<?x?x?x$A>, (!tile.span<"p">, !tile.span<"i">, !tile.span<"j">)
    tile.store %sums#1, %z at #id(%p, %i, %j)[] : !ij, memref<?x?x?x$A>, (!tile.span<"p">, !tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
