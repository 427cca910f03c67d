// Long chains of functions, of rows of any length: to stores, one of them on the way, and to sums along rows and down
// columns. They are cut, some vectors at a time.
// types: f32 f64
// dims: M=33,1,0,2,17 N=1057,0,1,15,31,32,48,63,64,511,512,513,529,1023,1024,1040,2100
// sizes: i=16,1,4,32
// tolerance: 1e-4
// runs: 30
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n, m)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!f = tensor<?x?x$T, #tile.axes<"i", "N">>
!g = tensor<?x?x$T, #tile.axes<"N", "i">>
!r = tensor<?x$T, #tile.axes<"i">>
tile.kernel @cut_chains(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %z: memref<?x?x$T> {tile.name = "z", tile.mode = "in", tile.shape = #nm},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #mn},
    %t: memref<?x?x$T> {tile.name = "t", tile.mode = "out", tile.shape = #mn},
    %s: memref<?x$T> {tile.name = "s", tile.mode = "out", tile.shape = #m},
    %c: memref<?x$T> {tile.name = "c", tile.mode = "out", tile.shape = #m},
    %k: memref<?x?x$T> {tile.name = "k", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    // To two stores.
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !f
    %x0 = math.sin %tx : !f
    %x1 = math.exp %x0 : !f
    %x2 = arith.mulf %x1, %tx : !f
    %x3 = math.tanh %x2 : !f
    %x4 = arith.addf %x3, %tx : !f
    %x5 = math.erf %x4 : !f
    tile.store %x3, %t at #id(%i, %n)[] : !f, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %x5, %y at #id(%i, %n)[] : !f, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    // Along rows.
    %y0 = math.tanh %tx : !f
    %y1 = math.exp %y0 : !f
    %y2 = math.cos %y1 : !f
    %ys = tile.reduce <add> %y2 over ["N"] : !f -> !r
    tile.store %ys, %s at affine_map<(d0) -> (d0)>(%i)[] : !r, memref<?x$T>, (!tile.span<"i">)
    // Down columns.
    %tz = tile.load %z at #id(%n, %i)[] <exact> : memref<?x?x$T>, (!tile.span<"N">, !tile.span<"i">) -> !g
    %z0 = math.tanh %tz : !g
    %z1 = math.exp %z0 : !g
    %z2 = math.sin %z1 : !g
    %zs = tile.reduce <add> %z2 over ["N"] : !g -> !r
    tile.store %zs, %c at affine_map<(d0) -> (d0)>(%i)[] : !r, memref<?x$T>, (!tile.span<"i">)
    // To what is kept for a maximum and for what is made with it.
    %k0 = math.erf %tx : !f
    %k1 = math.exp %k0 : !f
    %k2 = math.cos %k1 : !f
    %k3 = tile.reduce <max> %k2 over ["N"] : !f -> !r
    %k4 = tile.broadcast %k3 : !r to !f
    %k5 = arith.subf %k2, %k4 : !f
    tile.store %k5, %k at #id(%i, %n)[] : !f, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}
