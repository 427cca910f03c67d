// Random bits folded along rows: with several vectors a round, one after the other.
//
// dims: M=0,1,5 N=0,1,66,131,600
// sizes: i=1,3
// range from: -1e9 .. 1e9
// runs: 8
#m = affine_map<()[m, n] -> (m)>
#id1 = affine_map<(d0) -> (d0)>
!i = !tile.span<"i">
!n = !tile.span<"n">
!r = tensor<?xi64, #tile.axes<"i">>
!c = tensor<?xi64, #tile.axes<"n">>
!t = tensor<?x?xi64, #tile.axes<"i", "n">>
!w = tensor<?x?xi32, #tile.axes<"i", "n">>
!s = tensor<?xi32, #tile.axes<"i">>
tile.kernel @drawn_sums(%from: memref<?xi64> {tile.name = "from", tile.mode = "in", tile.shape = #m},
                        %sum: memref<?xi32> {tile.name = "sum", tile.mode = "out", tile.shape = #m},
                        %odd: memref<?xi32> {tile.name = "odd", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %seed = arith.constant 81985529216486895 : i64
  %stream = arith.constant 7 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !n
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %f = tile.load %from at #id1(%i)[] <exact> : memref<?xi64>, (!i) -> !r
    %cn = tile.coords %n : !n -> !c
    %b = tile.broadcast %f : !r to !t
    %k = tile.broadcast %cn : !c to !t
    %index = arith.addi %b, %k : !t
    %s = tile.broadcast %seed : i64 to !t
    %q = tile.broadcast %stream : i64 to !t
    %w0 = tile.philox <own> %s, %q, %index : !t -> !w
    %w1 = tile.philox <second> %s, %q, %index : !t -> !w
    %a = tile.reduce <add> %w0 over ["n"] : !w -> !s
    %o = tile.reduce <xor> %w1 over ["n"] : !w -> !s
    tile.store %a, %sum at #id1(%i)[] : !s, memref<?xi32>, (!i)
    tile.store %o, %odd at #id1(%i)[] : !s, memref<?xi32>, (!i)
  }
  tile.return
}
