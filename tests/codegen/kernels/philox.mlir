// Random bits of any seed, stream and index, and f32 rounded to tf32: the interpreter's, bit for bit.
//
// dims: M=0,1,13 N=1,7,66,131
// sizes: j=5,32,64
// range seed: -1e18 .. 1e18
// range index: -1e18 .. 1e18
// special: x
#m = affine_map<()[m, n] -> (m)>
#n = affine_map<()[m, n] -> (n)>
#mn = affine_map<()[m, n] -> (m, n)>
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
!i = !tile.span<"i">
!j = !tile.span<"j">
!s = tensor<?xi64, #tile.axes<"i">>
!x = tensor<?xi64, #tile.axes<"j">>
!t = tensor<?x?xi64, #tile.axes<"i", "j">>
!w = tensor<?x?xi32, #tile.axes<"i", "j">>
!f = tensor<?xf32, #tile.axes<"j">>
tile.kernel @philox(%seed: memref<?xi64> {tile.name = "seed", tile.mode = "in", tile.shape = #m},
                    %index: memref<?xi64> {tile.name = "index", tile.mode = "in", tile.shape = #n},
                    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
                    %w0: memref<?x?xi32> {tile.name = "w0", tile.mode = "out", tile.shape = #mn},
                    %w1: memref<?x?xi32> {tile.name = "w1", tile.mode = "out", tile.shape = #mn},
                    %w2: memref<?x?xi32> {tile.name = "w2", tile.mode = "out", tile.shape = #mn},
                    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %stream = arith.constant -81985529216486896 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %rows = tile.axis %c0 to %M : !i
  tile.parallel (%j = tiles "j" %c0 to %N) {
    %sv = tile.load %seed at #id1(%rows)[] <exact> : memref<?xi64>, (!i) -> !s
    %iv = tile.load %index at #id1(%j)[] <exact> : memref<?xi64>, (!j) -> !x
    %s = tile.broadcast %sv : !s to !t
    %r = tile.broadcast %stream : i64 to !t
    %k = tile.broadcast %iv : !x to !t
    %a = tile.philox <own> %s, %r, %k : !t -> !w
    %b = tile.philox <first> %s, %r, %k : !t -> !w
    %c = tile.philox <second> %s, %r, %k : !t -> !w
    tile.store %a, %w0 at #id2(%rows, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    tile.store %b, %w1 at #id2(%rows, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    tile.store %c, %w2 at #id2(%rows, %j)[] : !w, memref<?x?xi32>, (!i, !j)
    %v = tile.load %x at #id1(%j)[] <exact> : memref<?xf32>, (!j) -> !f
    %z = tile.round_tf32 %v : !f
    tile.store %z, %y at #id1(%j)[] : !f, memref<?xf32>, (!j)
  }
  tile.return
}
