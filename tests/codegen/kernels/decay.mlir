// Sequential blocks start at the lower bound.
// dims: N=0,1,2,10,11,12
// range from: 0 .. 20
// runs: 10
#n = affine_map<()[n] -> (n)>
#one = affine_map<()[n] -> (1)>
tile.kernel @decay(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %from: i64 {tile.name = "from", tile.mode = "in"},
    %y: memref<1xf32> {tile.name = "y", tile.mode = "out", tile.shape = #one},
    %blocks: memref<1xi64> {tile.name = "blocks", tile.mode = "out", tile.shape = #one})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %N = tile.dim "N"
  tile.parallel () {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %r:2 = tile.for sequential %j = "j" %from to %N by 3 iter_args(%t = %zero : f32, %n = %c0 : i64) {
      %v = tile.load %x at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j", 3>) -> tensor<3xf32, #tile.axes<"j">>
      %s = tile.reduce <add> %v over ["j"] : tensor<3xf32, #tile.axes<"j">> -> f32
      %h = arith.mulf %t, %half : f32
      %u = arith.addf %h, %s : f32
      %m = arith.addi %n, %c1 : i64
      tile.yield %u, %m : f32, i64
    }
    tile.store %r#0, %y at affine_map<() -> (0)>()[] : f32, memref<1xf32>, ()
    tile.store %r#1, %blocks at affine_map<() -> (0)>()[] : i64, memref<1xi64>, ()
  }
  tile.return
}
