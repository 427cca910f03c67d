// Axes whose length is data, and integers as binders.
// dims: B=1,0,3,7 N=8,9,33
// range len: 0 .. 8
// special: x
// runs: 8
#bn = affine_map<()[b, n] -> (b, n)>
#nb = affine_map<()[b, n] -> (n, b)>
#b = affine_map<()[b, n] -> (b)>
!N = tensor<?xf64, #tile.axes<"n">>
!Ni = tensor<?xi64, #tile.axes<"n">>
tile.kernel @ragged(
    %x: memref<?x?xf64> {tile.name = "x", tile.mode = "in", tile.shape = #bn},
    %len: memref<?xi64> {tile.name = "len", tile.mode = "in", tile.shape = #b},
    %where: memref<?xi64> {tile.name = "where", tile.mode = "out", tile.shape = #b},
    %y: memref<?x?xf64> {tile.name = "y", tile.mode = "out", tile.shape = #nb})
    attributes {dims = ["B", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %N = tile.dim "N"
  tile.parallel (%b = each "b" %c0 to %B) {
    %l = tile.load %len at affine_map<()[s0] -> (s0)>()[%b] <exact> : memref<?xi64>, () -> i64
    %n = tile.axis %c0 to %l : !tile.span<"n">
    %t = tile.load %x at affine_map<(d0)[s0] -> (s0, d0)>(%n)[%b] <exact> : memref<?x?xf64>, (!tile.span<"n">) -> !N
    %w = tile.arg_reduce <max> %t over "n" : !N -> i64
    tile.store %w, %where at affine_map<()[s0] -> (s0)>()[%b] : i64, memref<?xi64>, ()
    %all = tile.axis %c0 to %N : !tile.span<"all">
    %minus = arith.constant -1.0 : f64
    %pad = tile.load %x at affine_map<(d0)[s0] -> (s0, d0)>(%all)[%b] <exact> : memref<?x?xf64>, (!tile.span<"all">) -> tensor<?xf64, #tile.axes<"all">>
    %at = tile.coords %all : !tile.span<"all"> -> tensor<?xi64, #tile.axes<"all">>
    %lb = tile.broadcast %l : i64 to tensor<?xi64, #tile.axes<"all">>
    %in = arith.cmpi slt, %at, %lb : tensor<?xi64, #tile.axes<"all">>
    %atf = arith.sitofp %at : tensor<?xi64, #tile.axes<"all">> to tensor<?xf64, #tile.axes<"all">>
    %sum = arith.addf %atf, %pad : tensor<?xf64, #tile.axes<"all">>
    %mb = tile.broadcast %minus : f64 to tensor<?xf64, #tile.axes<"all">>
    %sel = arith.select %in, %sum, %mb : tensor<?xi1, #tile.axes<"all">>, tensor<?xf64, #tile.axes<"all">>
    tile.store %sel, %y at affine_map<(d0)[s0] -> (d0, s0)>(%all)[%b] : tensor<?xf64, #tile.axes<"all">>, memref<?x?xf64>, (!tile.span<"all">)
  }
  tile.return
}
