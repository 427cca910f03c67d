// The first of lines that are long enough to be looked at here and there before; which rise, fall or do neither.
// types: f32 f64
// dims: M=3,1,2 N=40001,33000,40001,100 K=5,1,0,64,130,5
// sizes: i=2,1,4
// runs: 10
#mn = affine_map<()[m, n, k] -> (m, n)>
#mk = affine_map<()[m, n, k] -> (m, k)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!f = tensor<?x?x$T, #tile.axes<"i", "N">>
!ik = tensor<?x?x$T, #tile.axes<"i", "K">>
!ic = tensor<?x?xi64, #tile.axes<"i", "K">>
tile.kernel @long_lines(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %slope: $T {tile.name = "slope", tile.mode = "in"},
    %v: memref<?x?x$T> {tile.name = "v", tile.mode = "out", tile.shape = #mk},
    %at: memref<?x?xi64> {tile.name = "at", tile.mode = "out", tile.shape = #mk},
    %w: memref<?x?x$T> {tile.name = "w", tile.mode = "out", tile.shape = #mk},
    %from: memref<?x?xi64> {tile.name = "from", tile.mode = "out", tile.shape = #mk})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  %k = tile.axis %c0 to %K : !tile.span<"K">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !f
    %j = tile.coords %n : !tile.span<"N"> -> tensor<?xi64, #tile.axes<"N">>
    %fj = arith.sitofp %j : tensor<?xi64, #tile.axes<"N">> to tensor<?x$T, #tile.axes<"N">>
    %bj = tile.broadcast %fj : tensor<?x$T, #tile.axes<"N">> to !f
    %s = tile.broadcast %slope : $T to !f
    %p = arith.mulf %bj, %s : !f
    %y = arith.addf %tx, %p : !f
    %values, %places = tile.sort descending %y over "N" into "K" : !f -> !ik, !ic
    %others, %origins = tile.sort %y over "N" into "K" : !f -> !ik, !ic
    tile.store %values, %v at #id(%i, %k)[] : !ik, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">)
    tile.store %places, %at at #id(%i, %k)[] : !ic, memref<?x?xi64>, (!tile.span<"i">, !tile.span<"K">)
    tile.store %others, %w at #id(%i, %k)[] : !ik, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">)
    tile.store %origins, %from at #id(%i, %k)[] : !ic, memref<?x?xi64>, (!tile.span<"i">, !tile.span<"K">)
  }
  tile.return
}
