// Products over whole axes, of one block and of several, that begin with a number or with nothing; two axes of rows,
// two of columns, and what is read across.
// types: f32 f64
// dims: M=4,1,2,17,40 R=2,1,3 K=300,0,1,4,256,257,600 N=1,4,17,33 C=1,2,5
// sizes: i=16,1,4,40 j=16,1,4,33
// tolerance: 1e-4
// runs: 40
#mrk = affine_map<()[m, r, k, n, c] -> (m, r, k)>
#kn = affine_map<()[m, r, k, n, c] -> (k, n)>
#cnk = affine_map<()[m, r, k, n, c] -> (c, n, k)>
#mrn = affine_map<()[m, r, k, n, c] -> (m, r, n)>
#mcn = affine_map<()[m, r, k, n, c] -> (m, c, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1)[s0] -> (d0, s0, d1)>
!irk = tensor<?x?x?x$T, #tile.axes<"i", "r", "K">>
!ik = tensor<?x?x$T, #tile.axes<"i", "K">>
!kj = tensor<?x?x$T, #tile.axes<"K", "j">>
!cjk = tensor<?x?x?x$T, #tile.axes<"c", "j", "K">>
!irj = tensor<?x?x?x$T, #tile.axes<"i", "r", "j">>
!icj = tensor<?x?x?x$T, #tile.axes<"i", "c", "j">>
tile.kernel @whole_products(
    %x: memref<?x?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mrk},
    %w: memref<?x?x$T> {tile.name = "w", tile.mode = "in", tile.shape = #kn},
    %v: memref<?x?x?x$T> {tile.name = "v", tile.mode = "in", tile.shape = #cnk},
    %y: memref<?x?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #mrn},
    %z: memref<?x?x?x$T> {tile.name = "z", tile.mode = "out", tile.shape = #mcn})
    attributes {dims = ["M", "R", "K", "N", "C"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %R = tile.dim "R"
  %N = tile.dim "N"
  %C = tile.dim "C"
  %Kd = tile.dim "K"
  %k = tile.axis %c0 to %Kd : !tile.span<"K">
  %r = tile.axis %c0 to %R : !tile.span<"r">
  %c = tile.axis %c0 to %C : !tile.span<"c">
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant 0.0 : $T
    %start = arith.constant -2.5 : $T
    %nothing = tile.broadcast %zero : $T to !irj
    %some = tile.broadcast %start : $T to !icj
    %tx = tile.load %x at #id3(%i, %r, %k)[] <exact> : memref<?x?x?x$T>, (!tile.span<"i">, !tile.span<"r">, !tile.span<"K">) -> !irk
    %tr = tile.load %x at #row(%i, %k)[%c0] <exact> : memref<?x?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !ik
    %tw = tile.load %w at #id(%k, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"K">, !tile.span<"j">) -> !kj
    %tv = tile.load %v at #id3(%c, %j, %k)[] <exact> : memref<?x?x?x$T>, (!tile.span<"c">, !tile.span<"j">, !tile.span<"K">) -> !cjk
    %p = tile.dot %tx, %tw over "K" acc %nothing : !irk, !kj -> !irj
    tile.store %p, %y at #id3(%i, %r, %j)[] : !irj, memref<?x?x?x$T>, (!tile.span<"i">, !tile.span<"r">, !tile.span<"j">)
    %q = tile.dot %tr, %tv over "K" acc %some : !ik, !cjk -> !icj
    tile.store %q, %z at #id3(%i, %c, %j)[] : !icj, memref<?x?x?x$T>, (!tile.span<"i">, !tile.span<"c">, !tile.span<"j">)
  }
  tile.return
}
