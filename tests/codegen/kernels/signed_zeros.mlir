// Of zeros the negative one is less: bits of fmax, fmin, max and min, of two numbers and of rows.
//
// types: f16 f32
// dims: M=0,1,5 N=0,1,7,66
// sizes: i=1,3
// runs: 4
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
!i = !tile.span<"i">
!n = !tile.span<"n">
!k = tensor<?x?xi32, #tile.axes<"i", "n">>
!t = tensor<?x?x$T, #tile.axes<"i", "n">>
!r = tensor<?x$T, #tile.axes<"i">>
tile.kernel @signed_zeros(%x: memref<?x?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
                          %y: memref<?x?xi32> {tile.name = "y", tile.mode = "in", tile.shape = #mn},
                          %a: memref<?x?x$T> {tile.name = "a", tile.mode = "out", tile.shape = #mn},
                          %b: memref<?x?x$T> {tile.name = "b", tile.mode = "out", tile.shape = #mn},
                          %c: memref<?x?x$T> {tile.name = "c", tile.mode = "out", tile.shape = #mn},
                          %d: memref<?x?x$T> {tile.name = "d", tile.mode = "out", tile.shape = #mn},
                          %e: memref<?x$T> {tile.name = "e", tile.mode = "out", tile.shape = #m},
                          %f: memref<?x$T> {tile.name = "f", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : $T
  %one = arith.constant 1.0 : $T
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !n
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %z = tile.broadcast %zero : $T to !t
    %o = tile.broadcast %one : $T to !t
    %o1 = tile.broadcast %one : $T to !r
    %kx = tile.load %x at #id2(%i, %n)[] <exact> : memref<?x?xi32>, (!i, !n) -> !k
    %ky = tile.load %y at #id2(%i, %n)[] <exact> : memref<?x?xi32>, (!i, !n) -> !k
    // The sign of an integer: zeros of both signs.
    %fx = arith.sitofp %kx : !k to !t
    %fy = arith.sitofp %ky : !k to !t
    %zx = arith.mulf %fx, %z : !t
    %zy = arith.mulf %fy, %z : !t
    %v0 = arith.maxnumf %zx, %zy : !t
    %v1 = arith.minnumf %zx, %zy : !t
    %v2 = arith.maximumf %zx, %zy : !t
    %v3 = arith.minimumf %zx, %zy : !t
    %s0 = math.copysign %o, %v0 : !t
    %s1 = math.copysign %o, %v1 : !t
    %s2 = math.copysign %o, %v2 : !t
    %s3 = math.copysign %o, %v3 : !t
    tile.store %s0, %a at #id2(%i, %n)[] : !t, memref<?x?x$T>, (!i, !n)
    tile.store %s1, %b at #id2(%i, %n)[] : !t, memref<?x?x$T>, (!i, !n)
    tile.store %s2, %c at #id2(%i, %n)[] : !t, memref<?x?x$T>, (!i, !n)
    tile.store %s3, %d at #id2(%i, %n)[] : !t, memref<?x?x$T>, (!i, !n)
    %r0 = tile.reduce <fmax> %zx over ["n"] : !t -> !r
    %r1 = tile.reduce <fmin> %zx over ["n"] : !t -> !r
    %q0 = math.copysign %o1, %r0 : !r
    %q1 = math.copysign %o1, %r1 : !r
    tile.store %q0, %e at #id1(%i)[] : !r, memref<?x$T>, (!i)
    tile.store %q1, %f at #id1(%i)[] : !r, memref<?x$T>, (!i)
  }
  tile.return
}
