// What four elements share lies along an axis whose length is data: there is no room to keep it.
// types: f32
// dims: B=3,0,1,7 N=8,9,33
// range len: 0 .. 8
// runs: 8
#bnc = affine_map<()[b, n] -> (b, n, 4)>
#n = affine_map<()[b, n] -> (n)>
#b = affine_map<()[b, n] -> (b)>
!N = tensor<?x$T, #tile.axes<"n">>
!NC = tensor<?x4x$T, #tile.axes<"n", "c">>
tile.kernel @ragged_shares(
    %x: memref<?x?x4x$T> {tile.name = "x", tile.mode = "in", tile.shape = #bnc},
    %w: memref<?x$T> {tile.name = "w", tile.mode = "in", tile.shape = #n},
    %len: memref<?xi64> {tile.name = "len", tile.mode = "in", tile.shape = #b},
    %y: memref<?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #b})
    attributes {dims = ["B", "N"]} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %one = arith.constant 1.0 : $T
  %B = tile.dim "B"
  %c = tile.axis %c0 to %c4 : !tile.span<"c", 4>
  tile.parallel (%b = each "b" %c0 to %B) {
    %l = tile.load %len at affine_map<()[s0] -> (s0)>()[%b] <exact> : memref<?xi64>, () -> i64
    %n = tile.axis %c0 to %l : !tile.span<"n">
    %t = tile.load %x at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%n, %c)[%b] <exact> : memref<?x?x4x$T>, (!tile.span<"n">, !tile.span<"c", 4>) -> !NC
    %v = tile.load %w at affine_map<(d0) -> (d0)>(%n)[] <exact> : memref<?x$T>, (!tile.span<"n">) -> !N
    %ones = tile.broadcast %one : $T to !N
    %q = arith.divf %ones, %v : !N
    %f = tile.broadcast %q : !N to !NC
    %u = arith.mulf %t, %f : !NC
    %m = tile.reduce <max> %u over ["n", "c"] : !NC -> $T
    tile.store %m, %y at affine_map<()[s0] -> (s0)>()[%b] : $T, memref<?x$T>, ()
  }
  tile.return
}
