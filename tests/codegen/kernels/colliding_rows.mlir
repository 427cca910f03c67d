// Blocks of columns that several nests read, where they lie or from a copy; with rows in two dimensions, of every
// program or of all.
// types: f32 f64
// dims: B=1,2,0,3 P=1,2,0,5 Q=1,3,0,9,40 N=16,1,0,17,64,130
// sizes: b=1,2 j=16,1,5,32,64,200
// tolerance: 1e-4
// runs: 60
#x = affine_map<()[b, p, q, n] -> (b, p, q, n)>
#w = affine_map<()[b, p, q, n] -> (q, n)>
#z = affine_map<()[b, p, q, n] -> (b, n)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#two = affine_map<(d0, d1) -> (d0, d1)>
!bj = tensor<?x?x$A, #tile.axes<"b", "j">>
!qj = tensor<?x?x$A, #tile.axes<"Q", "j">>
!bqj = tensor<?x?x?x$A, #tile.axes<"b", "Q", "j">>
!bpqj = tensor<?x?x?x?x$A, #tile.axes<"b", "P", "Q", "j">>
tile.kernel @colliding_rows(
    %x: memref<?x?x?x?x$A> {tile.name = "x", tile.mode = "in", tile.shape = #x},
    %w: memref<?x?x$A> {tile.name = "w", tile.mode = "in", tile.shape = #w},
    %y: memref<?x?x?x?x$A> {tile.name = "y", tile.mode = "out", tile.shape = #x},
    %z: memref<?x?x$A> {tile.name = "z", tile.mode = "out", tile.shape = #z})
    attributes {dims = ["B", "P", "Q", "N"]} {
  %c0 = arith.constant 0 : i64
  %B = tile.dim "B"
  %P = tile.dim "P"
  %Q = tile.dim "Q"
  %N = tile.dim "N"
  %p = tile.axis %c0 to %P : !tile.span<"P">
  %q = tile.axis %c0 to %Q : !tile.span<"Q">
  tile.parallel (%b = tiles "b" %c0 to %B, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at #id(%b, %p, %q, %j)[] <exact> : memref<?x?x?x?x$A>, (!tile.span<"b">, !tile.span<"P">, !tile.span<"Q">, !tile.span<"j">) -> !bpqj
    %tw = tile.load %w at #two(%q, %j)[] <exact> : memref<?x?x$A>, (!tile.span<"Q">, !tile.span<"j">) -> !qj
    %s = tile.reduce <add> %tx over ["P", "Q"] : !bpqj -> !bj
    %most = tile.reduce <max> %tw over ["Q"] : !qj -> tensor<?x$A, #tile.axes<"j">>
    %ofMost = tile.broadcast %most : tensor<?x$A, #tile.axes<"j">> to !bj
    %ofEach = tile.broadcast %s : !bj to !bpqj
    %d = arith.subf %tx, %ofEach : !bpqj
    %wide = tile.broadcast %tw : !qj to !bpqj
    %scaled = arith.mulf %d, %wide : !bpqj
    %v = tile.reduce <max> %scaled over ["P"] : !bpqj -> !bqj
    %u = tile.reduce <max> %v over ["Q"] : !bqj -> !bj
    %sum = arith.addf %u, %ofMost : !bj
    tile.store %sum, %z at #two(%b, %j)[] : !bj, memref<?x?x$A>, (!tile.span<"b">, !tile.span<"j">)
    %again = arith.addf %scaled, %tx : !bpqj
    tile.store %again, %y at #id(%b, %p, %q, %j)[] : !bpqj, memref<?x?x?x?x$A>, (!tile.span<"b">, !tile.span<"P">, !tile.span<"Q">, !tile.span<"j">)
  }
  tile.return
}
