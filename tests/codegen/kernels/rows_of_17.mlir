// Rows that end with a vector of one lane: nothing is written beside it, however narrow its elements are.
// types: f8E4M3FN f8E5M2 bf16 f16
// dims: N=1,2,5
// special: x
// runs: 12
#at = affine_map<(c)[i] -> (i, c)>
tile.kernel @rows_of_17(
    %x: memref<?x17xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, 17)>},
    %y: memref<?x17x$T> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[n] -> (n, 17)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c17 = arith.constant 17 : i64
  %N = tile.dim "N"
  tile.parallel (%i = each "i" %c0 to %N) {
    %c = tile.axis %c0 to %c17 : !tile.span<"c", 17>
    %t = tile.load %x at #at(%c)[%i] <exact> : memref<?x17xf32>, (!tile.span<"c", 17>) -> tensor<17xf32, #tile.axes<"c">>
    %u = arith.truncf %t : tensor<17xf32, #tile.axes<"c">> to tensor<17x$T, #tile.axes<"c">>
    tile.store %u, %y at #at(%c)[%i] : tensor<17x$T, #tile.axes<"c">>, memref<?x17x$T>, (!tile.span<"c", 17>)
  }
  tile.return
}
