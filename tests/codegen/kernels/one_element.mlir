// An element that all lanes have, though its index is a tile: read under the conditions of a tail, of a bound and of a
// domain, each of which may leave no lane.
// types: f16 bf16 f32 f64
// dims: N=1,0,2,3,7,40 M=1,0,2
// sizes: i=1,2,3,4,6,16 j=1,2,3,8
// runs: 12
#n = affine_map<()[n, m] -> (n)>
#m = affine_map<()[n, m] -> (m)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?x$T, #tile.axes<"i">>
!j = tensor<?x$T, #tile.axes<"j">>
tile.kernel @one_element(
    %a: memref<?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #m},
    %b: memref<?x$T> {tile.name = "b", tile.mode = "in", tile.shape = #n},
    %padded: memref<?x$T> {tile.name = "padded", tile.mode = "out", tile.shape = #n},
    %clamped: memref<?x$T> {tile.name = "clamped", tile.mode = "out", tile.shape = #n},
    %largest: memref<?x$T> {tile.name = "largest", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N", "M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %three = arith.constant 3.0 : $T
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %b0 = tile.load %b at #id(%i)[] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %one = tile.broadcast %c1 : i64 to tensor<?xi64, #tile.axes<"i">>
    %p = tile.load %a at #id(%one)[] <pad> else %three : memref<?x$T>, (tensor<?xi64, #tile.axes<"i">>), $T -> !i
    %p2 = arith.addf %p, %b0 : !i
    tile.store %p2, %padded at #id(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %q = tile.load %a at #id(%one)[] <clamp> : memref<?x$T>, (tensor<?xi64, #tile.axes<"i">>) -> !i
    %q2 = arith.mulf %q, %b0 : !i
    tile.store %q2, %clamped at #id(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %r = tile.for fold %j = "j" %c0 to %N iter_args(%before = %b0 : !i) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 - 1 >= 0)>(%i, %j)[] : !tile.span<"i">, !tile.span<"j">
      %zero = tile.broadcast %c0 : i64 to tensor<?xi64, #tile.axes<"j">>
      %t = tile.load %a at #id(%zero)[] <pad> else %three : memref<?x$T>, (tensor<?xi64, #tile.axes<"j">>), $T -> !j
      %u = tile.load %b at #id(%j)[] <exact> : memref<?x$T>, (!tile.span<"j">) -> !j
      %v = arith.mulf %t, %u : !j
      %w = tile.broadcast %v : !j to tensor<?x?x$T, #tile.axes<"i", "j">>
      %top = tile.reduce <max> %w over ["j"] : tensor<?x?x$T, #tile.axes<"i", "j">> -> !i
      %after = arith.maximumf %before, %top : !i
      tile.yield %after : !i
    }
    tile.store %r, %largest at #id(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
  }
  tile.return
}
