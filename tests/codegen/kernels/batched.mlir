// Batch axes, operands in other orders, one operand from another dot, vectors.
// types: f32 f64 i64
// dims: B=1,3,5 M=1,0,4,17 K=1,0,5,20,33 N=1,3,18,33
// sizes: b=2,1,4 i=2,1,5,16 j=3,1,16,40
// tolerance: 1e-3
// runs: 10
#bkm = affine_map<()[b, m, k, n] -> (k, b, m)>
#nkb = affine_map<()[b, m, k, n] -> (n, k, b)>
#bmn = affine_map<()[b, m, k, n] -> (b, m, n)>
#bm = affine_map<()[b, m, k, n] -> (b, m)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
!bik = tensor<?x?x?x$T, #tile.axes<"K", "b", "i">>
!bkj = tensor<?x?x?x$T, #tile.axes<"j", "K", "b">>
!bij = tensor<?x?x?x$T, #tile.axes<"b", "i", "j">>
!bi = tensor<?x?x$T, #tile.axes<"b", "i">>
!bk = tensor<?x?x$T, #tile.axes<"b", "K">>
tile.kernel @batched(
    %x: memref<?x?x?x$T> {tile.name = "x", tile.type = "$T", tile.mode = "in", tile.shape = #bkm},
    %w: memref<?x?x?x$T> {tile.name = "w", tile.type = "$T", tile.mode = "in", tile.shape = #nkb},
    %y: memref<?x?x?x$T> {tile.name = "y", tile.type = "$T", tile.mode = "out", tile.shape = #bmn},
    %z: memref<?x?x$T> {tile.name = "z", tile.type = "$T", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #bm})
    attributes {dims = ["B", "M", "K", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %M = tile.dim "M"
  %N = tile.dim "N"
  %Kd = tile.dim "K"
  %k = tile.axis %c0 to %Kd : !tile.span<"K">
  tile.parallel (%b = tiles "b" %c0 to %B, %i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant $Z : $T
    %tx = tile.load %x at #id3(%k, %b, %i)[] <exact> : memref<?x?x?x$T>, (!tile.span<"K">, !tile.span<"b">, !tile.span<"i">) -> !bik
    %tw = tile.load %w at #id3(%j, %k, %b)[] <exact> : memref<?x?x?x$T>, (!tile.span<"j">, !tile.span<"K">, !tile.span<"b">) -> !bkj
    %init = tile.broadcast %zero : $T to !bij
    %p = tile.dot %tx, %tw over "K" acc %init : !bik, !bkj -> tensor<?x?x?x$T, #tile.axes<"b", "i", "j">>
    tile.store %p, %y at #id3(%b, %i, %j)[] : !bij, memref<?x?x?x$T>, (!tile.span<"b">, !tile.span<"i">, !tile.span<"j">)
    // A vector against a matrix, by columns of w.
    %jw = tile.load %w at #id3(%j, %k, %b)[] <exact> : memref<?x?x?x$T>, (!tile.span<"j">, !tile.span<"K">, !tile.span<"b">) -> !bkj
    %s = tile.reduce <add> %jw over ["j"] : !bkj -> tensor<?x?x$T, #tile.axes<"K", "b">>
    %zi = tile.broadcast %zero : $T to !bi
    %v = tile.dot %tx, %s over "K" acc %zi : !bik, tensor<?x?x$T, #tile.axes<"K", "b">> -> !bi
    tile.update <add> %v, %z at affine_map<(d0, d1) -> (d0, d1)>(%b, %i)[] : !bi, memref<?x?x$T>, (!tile.span<"b">, !tile.span<"i">)
  }
  tile.return
}
