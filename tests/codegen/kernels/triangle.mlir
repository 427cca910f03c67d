// A condition on one operand of a dot; what is outside may be Inf or NaN.
// dims: N=1,0,5,11,40
// sizes: i=1,3,4,16 j=1,4,3,16
// runs: 12
#nn = affine_map<()[n] -> (n, n)>
#n = affine_map<()[n] -> (n)>
!i = tensor<?xf32, #tile.axes<"i">>
tile.kernel @triangle(
    %a: memref<?x?xf32> {tile.name = "a", tile.mode = "in", tile.shape = #nn},
    %b: memref<?xf32> {tile.name = "b", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to !i
    %acc = tile.for fold %j = "j" %c0 to %N iter_args(%sum = %init : !i) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j)[] : !tile.span<"i">, !tile.span<"j">
      %ta = tile.load %a at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
      %tb = tile.load %b at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
      %s = tile.dot %ta, %tb over "j" acc %sum : tensor<?x?xf32, #tile.axes<"i", "j">>, tensor<?xf32, #tile.axes<"j">> -> !i
      tile.yield %s : !i
    }
    tile.store %acc, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
