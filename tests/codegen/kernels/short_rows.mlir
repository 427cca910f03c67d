// Rows of two, three and four elements: their greatest, and what is computed of rows and that.
// types: f32 f64
// dims: M=1,0,15,16,33,70
// sizes: i=16,1,32,64
// special: x a b
// runs: 16
#m = affine_map<()[m] -> (m)>
#at = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0) -> (d0)>
!row = tensor<?x3x$T, #tile.axes<"i", "d">>
!quad = tensor<?x4x$T, #tile.axes<"i", "e">>
!pair = tensor<?x2x$T, #tile.axes<"i", "f">>
!one = tensor<?x$T, #tile.axes<"i">>
tile.kernel @short_rows(
    %x: memref<?x3x$T> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 3)>},
    %a: memref<?x4x$T> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 4)>},
    %b: memref<?x2x$T> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 2)>},
    %y: memref<?x3x$T> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 3)>},
    %s: memref<?x$T> {tile.name = "s", tile.mode = "out", tile.shape = #m},
    %t: memref<?x$T> {tile.name = "t", tile.mode = "out", tile.shape = #m},
    %u: memref<?x2x$T> {tile.name = "u", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 2)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c4 = arith.constant 4 : i64
  %M = tile.dim "M"
  %d = tile.axis %c0 to %c3 : !tile.span<"d", 3>
  %e = tile.axis %c0 to %c4 : !tile.span<"e", 4>
  %f = tile.axis %c0 to %c2 : !tile.span<"f", 2>
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at #at(%i, %d)[] <exact> : memref<?x3x$T>, (!tile.span<"i">, !tile.span<"d", 3>) -> !row
    %ta = tile.load %a at #at(%i, %e)[] <exact> : memref<?x4x$T>, (!tile.span<"i">, !tile.span<"e", 4>) -> !quad
    %tb = tile.load %b at #at(%i, %f)[] <exact> : memref<?x2x$T>, (!tile.span<"i">, !tile.span<"f", 2>) -> !pair
    %mx = tile.reduce <max> %tx over ["d"] : !row -> !one
    %ma = tile.reduce <min> %ta over ["e"] : !quad -> !one
    %wide = tile.broadcast %mx : !one to !row
    %of = arith.subf %tx, %wide : !row
    tile.store %of, %y at #at(%i, %d)[] : !row, memref<?x3x$T>, (!tile.span<"i">, !tile.span<"d", 3>)
    tile.store %mx, %s at #i(%i)[] : !one, memref<?x$T>, (!tile.span<"i">)
    tile.store %ma, %t at #i(%i)[] : !one, memref<?x$T>, (!tile.span<"i">)
    %pairs = tile.broadcast %ma : !one to !pair
    %both = arith.mulf %tb, %pairs : !pair
    tile.store %both, %u at #at(%i, %f)[] : !pair, memref<?x2x$T>, (!tile.span<"i">, !tile.span<"f", 2>)
  }
  tile.return
}
