// Names and messages of any bytes, which the JSON of a summary has to spell.

#shape = affine_map<()[m] -> (m)>
#shape_c = affine_map<()[m] -> (m + 3)>
#id1 = affine_map<(d0) -> (d0)>

tile.kernel @"k\FF"(
    %x: memref<?xf32> {tile.name = "x\FE", tile.type = "f32\FF", tile.mode = "in", tile.shape = #shape_c},
    %y: memref<?xf32> {tile.name = "y\FE", tile.type = "f32", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M\FF"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M\FF"
  tile.parallel (%i = tiles "i\FD" %c0 to %M) {
    %0 = tile.load %x at #id1(%i)[] <exact> : memref<?xf32>, (!tile.span<"i\FD">) -> tensor<?xf32, #tile.axes<"i\FD">>
    %zero = arith.constant 0.0 : f32
    %z = tile.broadcast %zero : f32 to tensor<?xf32, #tile.axes<"i\FD">>
    %ok = arith.cmpf oge, %0, %z : tensor<?xf32, #tile.axes<"i\FD">>
    tile.assert %ok, "no \FF number" : tensor<?xi1, #tile.axes<"i\FD">>
    tile.store %0, %y at #id1(%i)[] : tensor<?xf32, #tile.axes<"i\FD">>, memref<?xf32>, (!tile.span<"i\FD">)
  }
  tile.return
}
