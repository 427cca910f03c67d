// Random bits of neighbours, which share blocks: rows begin anywhere in one, and end anywhere in a vector. What lanes
// don't number one after the other has blocks of its own.
//
// dims: M=0,1,5 N=1,7,66,131,260
// sizes: i=1,3 j=5,16,64,256
// range from: -1e9 .. 1e9
// runs: 12
#m = affine_map<()[m, n] -> (m)>
#mn = affine_map<()[m, n] -> (m, n)>
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
!i = !tile.span<"i">
!j = !tile.span<"j">
!r = tensor<?xi64, #tile.axes<"i">>
!c = tensor<?xi64, #tile.axes<"j">>
!t = tensor<?x?xi64, #tile.axes<"i", "j">>
!w = tensor<?x?xi32, #tile.axes<"i", "j">>
tile.kernel @draws(%from: memref<?xi64> {tile.name = "from", tile.mode = "in", tile.shape = #m},
                   %own: memref<?x?xi32> {tile.name = "own", tile.mode = "out", tile.shape = #mn},
                   %first: memref<?x?xi32> {tile.name = "first", tile.mode = "out", tile.shape = #mn},
                   %second: memref<?x?xi32> {tile.name = "second", tile.mode = "out", tile.shape = #mn},
                   %back: memref<?x?xi32> {tile.name = "back", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %seed = arith.constant 81985529216486895 : i64
  %stream = arith.constant -3 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %f = tile.load %from at #id1(%i)[] <exact> : memref<?xi64>, (!i) -> !r
    %ci = tile.coords %i : !i -> !r
    %length = tile.broadcast %N : i64 to !r
    %row = arith.muli %ci, %length : !r
    %begin = arith.addi %row, %f : !r
    %cj = tile.coords %j : !j -> !c
    %b = tile.broadcast %begin : !r to !t
    %k = tile.broadcast %cj : !c to !t
    %index = arith.addi %b, %k : !t
    %s = tile.broadcast %seed : i64 to !t
    %q = tile.broadcast %stream : i64 to !t
    %w0 = tile.philox <own> %s, %q, %index : !t -> !w
    %w1 = tile.philox <first> %s, %q, %index : !t -> !w
    %w2 = tile.philox <second> %s, %q, %index : !t -> !w
    tile.store %w0, %own at #id2(%i, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    tile.store %w1, %first at #id2(%i, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    tile.store %w2, %second at #id2(%i, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    %down = arith.subi %b, %k : !t
    %w3 = tile.philox <own> %s, %q, %down : !t -> !w
    tile.store %w3, %back at #id2(%i, %j)[] : !w, memref<?x?xi32>, (!i, !j)
  }
  tile.return
}
