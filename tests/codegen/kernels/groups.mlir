// Constant groups, the last one cut off by a condition.
// dims: M=1,0,3,5 K=1,0,8,10,33
// sizes: i=1,2,4 g=1,3,16
// runs: 12
#mk = affine_map<()[m, k] -> (m, k)>
#mg = affine_map<()[m, k] -> (m, (k + 3) floordiv 4)>
#radix = affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>
!igc = tensor<?x?x4xf32, #tile.axes<"i", "g", "c">>
!ig = tensor<?x?xf32, #tile.axes<"i", "g">>
tile.kernel @groups(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mk},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mk},
    %s: memref<?x?xf32> {tile.name = "s", tile.mode = "out", tile.shape = #mg})
    attributes {dims = ["M", "K"]} {
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %K3 = arith.addi %K, %c3 : i64
  %G = tile.div %K3, %c4 : i64
  tile.parallel (%i = tiles "i" %c0 to %M, %g = tiles "g" %c0 to %G) {
    %c = tile.axis %c0 to %c4 : !tile.span<"c", 4>
    tile.restrict affine_set<(d0, d1)[s0] : (s0 - d0 * 4 - d1 - 1 >= 0)>(%g, %c)[%K] : !tile.span<"g">, !tile.span<"c", 4>
    %t = tile.load %x at #radix(%i, %g, %c)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c", 4>) -> !igc
    %top = tile.reduce <max> %t over ["c"] : !igc -> !ig
    %topb = tile.broadcast %top : !ig to !igc
    %q = arith.divf %t, %topb : !igc
    %count = tile.count %c : !tile.span<"c", 4> -> tensor<?xi64, #tile.axes<"g">>
    %countf = arith.sitofp %count : tensor<?xi64, #tile.axes<"g">> to tensor<?xf32, #tile.axes<"g">>
    %countb = tile.broadcast %countf : tensor<?xf32, #tile.axes<"g">> to !igc
    %sum = arith.addf %q, %countb : !igc
    tile.store %sum, %y at #radix(%i, %g, %c)[] : !igc, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">, !tile.span<"c", 4>)
    tile.store %top, %s at affine_map<(d0, d1) -> (d0, d1)>(%i, %g)[] : !ig, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"g">)
  }
  tile.return
}
