// dims: M=1,0,5,7,9 N=1,0,3,16,33,100
// sizes: i=2,1,4,8
// range x: -30 .. 30
// special: x
// tolerance: 1e-5
// runs: 10
#mn = affine_map<()[m, n] -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!in = tensor<?x?xf32, #tile.axes<"i", "N">>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @softmax(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> !in
    %m = tile.reduce <max> %t over ["N"] : !in -> !i
    %mb = tile.broadcast %m : !i to !in
    %d = arith.subf %t, %mb : !in
    %e = math.exp %d : !in
    %s = tile.reduce <add> %e over ["N"] : !in -> !i
    %sb = tile.broadcast %s : !i to !in
    %q = arith.divf %e, %sb : !in
    tile.store %q, %y at #id(%i, %n)[] : !in, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}
