// Where the greatest and the least of rows of any length are, of halves too; the first of those that are alike, zeros of both signs and NaN among them.
// types: f32 f64 f16 bf16
// dims: M=7,1,0,40 N=10,1,0,3,16,33,100,257
// sizes: i=4,1,16,64
// special: x
// runs: 24
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
!in = tensor<?x?x$T, #tile.axes<"i", "N">>
!k = tensor<?x?x$T, #tile.axes<"i", "K">>
!at = tensor<?xi64, #tile.axes<"i">>
tile.kernel @places_of_best(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %top: memref<?xi64> {tile.name = "top", tile.mode = "out", tile.shape = #m},
    %low: memref<?xi64> {tile.name = "low", tile.mode = "out", tile.shape = #m},
    %some: memref<?xi64> {tile.name = "some", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %Nd = tile.dim "N"
  %n = tile.axis %c0 to %Nd : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %k = tile.axis %c0 to %Nd : !tile.span<"K">
    tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%k, %i)[] : !tile.span<"K">, !tile.span<"i">
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %tk = tile.load %x at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !k
    %ta = tile.arg_reduce <max> %tx over "N" : !in -> !at
    %tb = tile.arg_reduce <min> %tx over "N" : !in -> !at
    %tc = tile.arg_reduce <min> %tk over "K" : !k -> !at
    tile.store %ta, %top at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
    tile.store %tb, %low at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
    tile.store %tc, %some at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}
