// Rows of few elements: lanes go along the rows' numbers, as neighbours where a row has one element, and so do the values
// that are kept. What is read at its row's end is padded.
// dims: M=1,0,5,16,33,100 N=1,0,2,3,4,7,8,9
// sizes: i=16,1,7,64
// range x: -2 .. 2
// tolerance: 1e-5
// runs: 16
#mn = affine_map<()[m, n] -> (m, n)>
#m = affine_map<()[m, n] -> (m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0) -> (d0)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @narrow(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn},
    %r: memref<?xf32> {tile.name = "r", tile.mode = "out", tile.shape = #m},
    %c: memref<?xf32> {tile.name = "c", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m, n] -> (n)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %zero = arith.constant 0.0 : f32
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %next = tile.load %x at affine_map<(d0, d1) -> (d0, d1 + 1)>(%i, %n)[] <pad> else %zero : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">), f32 -> !in
    %sin = math.sin %t : !in
    %e = arith.addf %sin, %next : !in
    %m = tile.reduce <max> %e over ["N"] : !in -> !i
    %mb = tile.broadcast %m : !i to !in
    %d = arith.subf %e, %mb : !in
    %g = math.exp %d : !in
    %s = tile.reduce <add> %g over ["N"] : !in -> !i
    %sb = tile.broadcast %s : !i to !in
    %q = arith.divf %g, %sb : !in
    tile.store %q, %y at #id(%i, %n)[] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %s, %r at #one(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
    %column = tile.reduce <add> %g over ["i"] : !in -> tensor<?xf32, #tile.axes<"N">>
    tile.update <add> %column, %c at #one(%n)[] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
  }
  tile.return
}
