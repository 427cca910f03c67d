// What is kept for a maximum is stored at a place that is computed behind it.
// types: f32
// dims: N=5,0,1,33 K=40,1,16,7
// runs: 8
#nk = affine_map<()[n, k] -> (n, k)>
#n = affine_map<()[n, k] -> (n)>
!row = tensor<?x$T, #tile.axes<"k">>
tile.kernel @placed_rows(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #nk},
    %m: memref<?x$T> {tile.name = "m", tile.mode = "out", tile.shape = #n},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #nk})
    attributes {dims = ["N", "K"]} {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = each "i" %c0 to %N) {
    %k = tile.axis %c0 to %K : !tile.span<"k">
    %t = tile.load %x at affine_map<(d0)[s0] -> (s0, d0)>(%k)[%i] <exact> : memref<?x?x$T>, (!tile.span<"k">) -> !row
    %u = math.exp %t : !row
    %most = tile.reduce <max> %u over ["k"] : !row -> $T
    tile.store %most, %m at affine_map<()[s0] -> (s0)>()[%i] : $T, memref<?x$T>, ()
    %twice = arith.muli %i, %c2 : i64
    %r = tile.div %twice, %c2 : i64
    tile.store %u, %y at affine_map<(d0)[s0] -> (s0, d0)>(%k)[%r] : !row, memref<?x?x$T>, (!tile.span<"k">)
  }
  tile.return
}
