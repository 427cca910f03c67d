// Axes that nothing loads.
// dims: M=1,0,5 N=1,0,7,40
// sizes: i=1,2,8
// runs: 6
#m = affine_map<()[m, n] -> (m)>
tile.kernel @ones(%y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"], consts = {M, N}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %one = arith.constant 1.0 : f32
    %t = tile.broadcast %one : f32 to tensor<?x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %t over ["N"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"i">>
    tile.store %s, %y at affine_map<(d0) -> (d0)>(%i)[] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
