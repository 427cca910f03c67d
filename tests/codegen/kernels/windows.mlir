// Padding, clamping and gathers.
// dims: N=1,0,9,40 H=1,0,4,7 P=1,0,6,37
// sizes: i=1,4,16,50
// range ids: -4 .. 11
// runs: 12
#n = affine_map<()[n, h, p] -> (n)>
#h = affine_map<()[n, h, p] -> (h)>
#p = affine_map<()[n, h, p] -> (p)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @windows(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %w: memref<?xf32> {tile.name = "w", tile.mode = "in", tile.shape = #h},
    %ids: memref<?xi32> {tile.name = "ids", tile.mode = "in", tile.shape = #p},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #p},
    %z: memref<?xf32> {tile.name = "z", tile.mode = "out", tile.shape = #p})
    attributes {dims = ["N", "H", "P"]} {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %P = tile.dim "P"
  %ten = arith.constant 10.0 : f32
  %minus = arith.constant -1.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %P) {
    %r = tile.axis %c0 to %c3 : !tile.span<"r", 3>
    tile.restrict affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%r)[%c2] : !tile.span<"r", 3>
    %v = tile.load %x at affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 - 1)>(%i, %r)[%c2] <pad> else %ten : memref<?xf32>, (!tile.span<"i">, !tile.span<"r", 3>), f32 -> tensor<?x3xf32, #tile.axes<"i", "r">>
    %s = tile.reduce <add> %v over ["r"] : tensor<?x3xf32, #tile.axes<"i", "r">> -> !i
    %id = tile.load %ids at #id(%i)[] <exact> : memref<?xi32>, (!tile.span<"i">) -> tensor<?xi32, #tile.axes<"i">>
    %e = tile.load %w at #id(%id)[] <clamp> : memref<?xf32>, (tensor<?xi32, #tile.axes<"i">>) -> !i
    %f = tile.load %w at #id(%id)[] <pad> else %minus : memref<?xf32>, (tensor<?xi32, #tile.axes<"i">>), f32 -> !i
    %sum = arith.addf %s, %e : !i
    tile.store %sum, %y at #id(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
    tile.store %f, %z at #id(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
