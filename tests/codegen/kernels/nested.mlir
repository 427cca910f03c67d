// Loops in loops, with bounds from data.
// dims: N=12,13,30 B=1,0,5
// sizes: j=1,4,3,16 k=1,3,5,32
// range lo: 0 .. 11
// range hi: 0 .. 12
// runs: 10
#n = affine_map<()[n, b] -> (n)>
#b = affine_map<()[n, b] -> (b)>
#at = affine_map<()[s0] -> (s0)>
tile.kernel @nested(
    %x: memref<?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %lo: memref<?xi64> {tile.name = "lo", tile.mode = "in", tile.shape = #b},
    %hi: memref<?xi64> {tile.name = "hi", tile.mode = "in", tile.shape = #b},
    %y: memref<?xi32> {tile.name = "y", tile.mode = "out", tile.shape = #b})
    attributes {dims = ["N", "B"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %B = tile.dim "B"
  tile.parallel (%b = each "b" %c0 to %B) {
    %l = tile.load %lo at #at()[%b] <exact> : memref<?xi64>, () -> i64
    %h = tile.load %hi at #at()[%b] <exact> : memref<?xi64>, () -> i64
    %r = tile.for fold %j = "j" %l to %h iter_args(%sum = %zero : i32) {
      %init = tile.broadcast %zero : i32 to tensor<?xi32, #tile.axes<"j">>
      %rows = tile.for fold %k = "k" %c0 to %h iter_args(%part = %init : tensor<?xi32, #tile.axes<"j">>) {
        tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%j, %k)[] : !tile.span<"j">, !tile.span<"k">
        %v = tile.load %x at affine_map<(d0) -> (d0)>(%k)[] <exact> : memref<?xi32>, (!tile.span<"k">) -> tensor<?xi32, #tile.axes<"k">>
        %vb = tile.broadcast %v : tensor<?xi32, #tile.axes<"k">> to tensor<?x?xi32, #tile.axes<"j", "k">>
        %s = tile.reduce <add> %vb over ["k"] : tensor<?x?xi32, #tile.axes<"j", "k">> -> tensor<?xi32, #tile.axes<"j">>
        %t = arith.addi %part, %s : tensor<?xi32, #tile.axes<"j">>
        tile.yield %t : tensor<?xi32, #tile.axes<"j">>
      }
      %p = tile.reduce <add> %rows over ["j"] : tensor<?xi32, #tile.axes<"j">> -> i32
      %u = arith.addi %sum, %p : i32
      tile.yield %u : i32
    }
    tile.store %r, %y at #at()[%b] : i32, memref<?xi32>, ()
  }
  tile.return
}
