// Row reductions into column reductions, with `reduce` outputs.
// types: f32 f64
// dims: M=1,0,5,40,70 N=1,3,16,33,100
// sizes: i=2,1,7,16,64
// tolerance: 5e-4
// runs: 10
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#n = affine_map<()[m, n] -> (n)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
!in = tensor<?x?x$T, #tile.axes<"i", "N">>
!i = tensor<?x$T, #tile.axes<"i">>
!n = tensor<?x$T, #tile.axes<"N">>
tile.kernel @layer_norm_backward(
    %x: memref<?x?x$T> {tile.name = "x", tile.type = "$T", tile.mode = "in", tile.shape = #mn},
    %dy: memref<?x?x$T> {tile.name = "dy", tile.type = "$T", tile.mode = "in", tile.shape = #mn},
    %g: memref<?x$T> {tile.name = "g", tile.type = "$T", tile.mode = "in", tile.shape = #n},
    %mu: memref<?x$T> {tile.name = "mu", tile.type = "$T", tile.mode = "in", tile.shape = #m},
    %rs: memref<?x$T> {tile.name = "rs", tile.type = "$T", tile.mode = "in", tile.shape = #m},
    %dx: memref<?x?x$T> {tile.name = "dx", tile.type = "$T", tile.mode = "out", tile.shape = #mn},
    %dg: memref<?x$T> {tile.name = "dg", tile.type = "$T", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #n},
    %db: memref<?x$T> {tile.name = "db", tile.type = "$T", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #n})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at #id2(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %tdy = tile.load %dy at #id2(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %tg = tile.load %g at #id1(%n)[] <exact> : memref<?x$T>, (!tile.span<"N">) -> !n
    %tmu = tile.load %mu at #id1(%i)[] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %trs = tile.load %rs at #id1(%i)[] <exact> : memref<?x$T>, (!tile.span<"i">) -> !i
    %mub = tile.broadcast %tmu : !i to !in
    %rsb = tile.broadcast %trs : !i to !in
    %gb = tile.broadcast %tg : !n to !in
    %c = arith.subf %tx, %mub : !in
    %h = arith.mulf %c, %rsb : !in
    %w = arith.mulf %tdy, %gb : !in
    %count = tile.count %n : !tile.span<"N"> -> i64
    %countf = arith.sitofp %count : i64 to $T
    %countb = tile.broadcast %countf : $T to !i
    %sw = tile.reduce <add> %w over ["N"] : !in -> !i
    %mw = arith.divf %sw, %countb : !i
    %wh = arith.mulf %w, %h : !in
    %swh = tile.reduce <add> %wh over ["N"] : !in -> !i
    %mwh = arith.divf %swh, %countb : !i
    %mwb = tile.broadcast %mw : !i to !in
    %mwhb = tile.broadcast %mwh : !i to !in
    %a = arith.subf %w, %mwb : !in
    %b = arith.mulf %h, %mwhb : !in
    %d = arith.subf %a, %b : !in
    %r = arith.mulf %d, %rsb : !in
    tile.store %r, %dx at #id2(%i, %n)[] : !in, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    %dyh = arith.mulf %tdy, %h : !in
    %pg = tile.reduce <add> %dyh over ["i"] : !in -> !n
    tile.update <add> %pg, %dg at #id1(%n)[] : !n, memref<?x$T>, (!tile.span<"N">)
    %pb = tile.reduce <add> %tdy over ["i"] : !in -> !n
    tile.update <add> %pb, %db at #id1(%n)[] : !n, memref<?x$T>, (!tile.span<"N">)
  }
  tile.return
}
