// One tensor is read across, and another one in the order of what is written.
// types: f32 f64 bf16
// dims: M=1,0,5,16,33,100 N=1,0,3,16,31,70
// sizes: i=16,1,17,64 j=16,5,32,64
// range x: -2 .. 2
// runs: 12
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n, m)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!ij = tensor<?x?x$T, #tile.axes<"i", "j">>
!ji = tensor<?x?x$T, #tile.axes<"j", "i">>
tile.kernel @across(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %z: memref<?x?x$T> {tile.name = "z", tile.mode = "in", tile.shape = #nm},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %tx = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">) -> !ij
    %across = tile.load %z at #id(%j, %i)[] <exact> : memref<?x?x$T>, (!tile.span<"j">, !tile.span<"i">) -> !ji
    %tz = tile.broadcast %across : !ji to !ij
    %sum = arith.addf %tx, %tz : !ij
    tile.store %sum, %y at #id(%i, %j)[] : !ij, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
