// As much of columns as a program's place says, twice: no launch knows how much room it would take.
// dims: M=1,0,5,33 N=16,0,1,70,130
// sizes: j=64,1,16
// tolerance: 1e-5
// runs: 12
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0)[s0] -> (s0, d0)>
!kj = tensor<?x?xf32, #tile.axes<"k", "j">>
!j = tensor<?xf32, #tile.axes<"j">>
tile.kernel @growing_columns(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = each "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %end = arith.addi %i, %c1 : i64
    %k = tile.axis %c0 to %end : !tile.span<"k">
    %t = tile.load %x at #id(%k, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"k">, !tile.span<"j">) -> !kj
    %most = tile.reduce <max> %t over ["k"] : !kj -> !j
    %mostOf = tile.broadcast %most : !j to !kj
    %d = arith.subf %t, %mostOf : !kj
    %e = math.exp %d : !kj
    %s = tile.reduce <add> %e over ["k"] : !kj -> !j
    %sumOf = tile.broadcast %s : !j to !kj
    %q = arith.divf %e, %sumOf : !kj
    %r = tile.reduce <max> %q over ["k"] : !kj -> !j
    tile.store %r, %y at #row(%j)[%i] : !j, memref<?x?xf32>, (!tile.span<"j">)
  }
  tile.return
}
