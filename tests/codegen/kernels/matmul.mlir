// One block of c a program; the carried tile is the accumulator.
// types: f32 f64 i32 f16 bf16
// dims: M=1,0,3,4,17,33,50 K=1,0,4,5,64,129,530 N=1,0,2,4,8,31,70,130
// sizes: i=4,1,3,16,64,26 j=3,1,16,33,64,96 k=5,1,32,64,300
// tolerance: 1e-4
// runs: 20
#mk = affine_map<()[m, k, n] -> (m, k)>
#kn = affine_map<()[m, k, n] -> (k, n)>
#mn = affine_map<()[m, k, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?x$A, #tile.axes<"i", "j">>
tile.kernel @matmul(
    %a: memref<?x?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #mk},
    %b: memref<?x?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #kn},
    %c: memref<?x?x$A> {tile.name = "c", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant $Z : $A
    %init = tile.broadcast %zero : $A to !ij
    %acc = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : !ij) {
      %ta = tile.load %a at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?x$T, #tile.axes<"i", "k">>
      %tb = tile.load %b at #id(%k, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?x$T, #tile.axes<"k", "j">>
      %s = tile.dot %ta, %tb over "k" acc %sum : tensor<?x?x$T, #tile.axes<"i", "k">>, tensor<?x?x$T, #tile.axes<"k", "j">> -> !ij
      tile.yield %s : !ij
    }
    tile.store %acc, %c at #id(%i, %j)[] : !ij, memref<?x?x$A>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
