// Division for all inputs, arg reductions, counts and products of integers.
// types: i8 i16 i32 i64
// dims: M=1,0,5,19 N=1,0,3,16,41
// sizes: i=2,1,16
// range x: -128 .. 127
// range d: -3 .. 3
// runs: 6
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
!t = tensor<?x?x$T, #tile.axes<"i", "N">>
!k = tensor<?x?x$T, #tile.axes<"i", "K">>
!i = tensor<?x$T, #tile.axes<"i">>
!at = tensor<?xi64, #tile.axes<"i">>
tile.kernel @integers(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %d: memref<?x?x$T> {tile.name = "d", tile.mode = "in", tile.shape = #mn},
    %q: memref<?x?x$T> {tile.name = "q", tile.mode = "out", tile.shape = #mn},
    %r: memref<?x?x$T> {tile.name = "r", tile.mode = "out", tile.shape = #mn},
    %t: memref<?x?x$T> {tile.name = "t", tile.mode = "out", tile.shape = #mn},
    %u: memref<?x?x$T> {tile.name = "u", tile.mode = "out", tile.shape = #mn},
    %prod: memref<?x$T> {tile.name = "prod", tile.mode = "out", tile.shape = #m},
    %low: memref<?x$T> {tile.name = "low", tile.mode = "out", tile.shape = #m},
    %top: memref<?xi64> {tile.name = "top", tile.mode = "out", tile.shape = #m},
    %bottom: memref<?xi64> {tile.name = "bottom", tile.mode = "out", tile.shape = #m},
    %count: memref<?xi64> {tile.name = "count", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %Nd = tile.dim "N"
  %n = tile.axis %c0 to %Nd : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    // Only the reductions see the condition.
    %k = tile.axis %c0 to %Nd : !tile.span<"K">
    tile.restrict affine_set<(d0, d1) : (d1 * 2 - d0 + 3 >= 0)>(%k, %i)[] : !tile.span<"K">, !tile.span<"i">
    %kx = tile.load %x at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !k
    %kd = tile.load %d at #id(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"K">) -> !k
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !t
    %td = tile.load %d at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !t
    %tq = tile.div %tx, %td : !t
    %tr = tile.rem %tx, %td : !t
    %tt = tile.div trunc %tx, %td : !t
    %tu = tile.rem unsigned %tx, %td : !t
    tile.store %tq, %q at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %tr, %r at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %tt, %t at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %tu, %u at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    %tp = tile.reduce <mul> %kx over ["K"] : !k -> !i
    tile.store %tp, %prod at #id1(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %tl = tile.reduce <umin> %kx over ["K"] : !k -> !i
    tile.store %tl, %low at #id1(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %ta = tile.arg_reduce <max> %kd over "K" : !k -> !at
    tile.store %ta, %top at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
    %tb = tile.arg_reduce <umin> %kd over "K" : !k -> !at
    tile.store %tb, %bottom at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
    %tc = tile.count %k : !tile.span<"K"> -> !at
    tile.store %tc, %count at #id1(%i)[] : !at, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}
