// Maps that don't read all of their dims: of a load without axes, and of one with others.
// types: f32 i64
// dims: N=1,7,40
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0)[s0] -> (s0)>
#second = affine_map<(d0, d1) -> (d1)>
!i = tensor<8x$T, #tile.axes<"i">>
tile.kernel @unread(
    %x: memref<?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %y: memref<?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %k = tile.axis %c0 to %c1 : !tile.span<"k">
    %first = arith.cmpi eq, %N, %c1 : i64
    %s = tile.load %x at #first(%k)[%c0] <exact> : memref<?x$T>, (!tile.span<"k">) -> $T
    %v = tile.load %x at #second(%k, %i)[] <exact> : memref<?x$T>, (!tile.span<"k">, !tile.span<"i", 8>) -> !i
    %b = tile.broadcast %s : $T to !i
    %c = tile.broadcast %first : i1 to tensor<8xi1, #tile.axes<"i">>
    %w = arith.select %c, %b, %v : tensor<8xi1, #tile.axes<"i">>, !i
    tile.store %w, %y at #id(%i)[] : !i, memref<?x$T>, (!tile.span<"i", 8>)
  }
  tile.return
}
