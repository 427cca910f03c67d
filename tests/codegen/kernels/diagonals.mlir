// Diagonals of squares, also of short rows: lanes go along two dimensions at once.
// types: f32 f64 i16
// dims: N=40,4,3,1,2,17
// runs: 12
#at = affine_map<(d0) -> (d0)>
tile.kernel @diagonals(
    %x: memref<4x4x$T> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (4, 4)>},
    %z: memref<?x?x$T> {tile.name = "z", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, n)>},
    %r: memref<?x?x3x$T> {tile.name = "r", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, n, 3)>},
    %v: memref<?x$T> {tile.name = "v", tile.mode = "out", tile.shape = affine_map<()[n] -> (n)>},
    %y: memref<4x$T> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[n] -> (4)>},
    %w: memref<?x$T> {tile.name = "w", tile.mode = "out", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c3 = arith.constant 3 : i64
  %N = tile.dim "N"
  tile.parallel (%one = each "one" %c0 to %c1) {
    %i = tile.axis %c0 to %c4 : !tile.span<"i", 4>
    %n = tile.axis %c0 to %N : !tile.span<"n">
    %t = tile.load %x at affine_map<(d0) -> (d0, d0)>(%i)[] <exact> : memref<4x4x$T>, (!tile.span<"i", 4>) -> tensor<4x$T, #tile.axes<"i">>
    tile.store %t, %y at #at(%i)[] : tensor<4x$T, #tile.axes<"i">>, memref<4x$T>, (!tile.span<"i", 4>)
    %u = tile.load %z at affine_map<(d0) -> (d0, d0)>(%n)[] <exact> : memref<?x?x$T>, (!tile.span<"n">) -> tensor<?x$T, #tile.axes<"n">>
    tile.store %u, %w at #at(%n)[] : tensor<?x$T, #tile.axes<"n">>, memref<?x$T>, (!tile.span<"n">)
    %d = tile.axis %c0 to %c3 : !tile.span<"d", 3>
    %rows = tile.load %r at affine_map<(d0, d1) -> (d0, d0, d1)>(%n, %d)[] <exact> : memref<?x?x3x$T>, (!tile.span<"n">, !tile.span<"d", 3>) -> tensor<?x3x$T, #tile.axes<"n", "d">>
    %most = tile.reduce <max> %rows over ["d"] : tensor<?x3x$T, #tile.axes<"n", "d">> -> tensor<?x$T, #tile.axes<"n">>
    tile.store %most, %v at #at(%n)[] : tensor<?x$T, #tile.axes<"n">>, memref<?x$T>, (!tile.span<"n">)
  }
  tile.return
}
