// Lanes that a condition or the end of a block leaves out are not read, by a multiply-add either.
// dims: L=46,5,17,0,3 N=2,7
// sizes: k=5,16,64 m=1,3
// tolerance: 1e-12
// runs: 10
#l = affine_map<()[l, n] -> (l)>
#n = affine_map<()[l, n] -> (n)>
#one = affine_map<()[l, n] -> (1)>
#id = affine_map<(d0) -> (d0)>
!K = tensor<?xf64, #tile.axes<"k">>
!M = tensor<?xf64, #tile.axes<"m">>
!KM = tensor<?x?xf64, #tile.axes<"k", "m">>
tile.kernel @masked(
    %x: memref<?xf64> {tile.name = "x", tile.mode = "in", tile.shape = #l},
    %s: memref<?xf64> {tile.name = "s", tile.mode = "in", tile.shape = #n},
    %y: memref<?xf64> {tile.name = "y", tile.mode = "out", tile.shape = #one})
    attributes {dims = ["L", "N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %c9 = arith.constant 9 : i64
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %L = tile.dim "L"
  tile.parallel (%i = tiles "i" %c0 to %c1) {
    %sum = tile.for fold %k = "k" %c0 to %L iter_args(%a = %zero : f64) {
      tile.restrict affine_set<(d0) : (d0 - 3 >= 0)>(%k) [] : !tile.span<"k">
      %inner = tile.for fold %m = "m" %c3 to %c9 iter_args(%b = %a : f64) {
        %t = tile.load %x at #id(%k) [] <exact> : memref<?xf64>, (!tile.span<"k">) -> !K
        %u = tile.load %s at #id(%m) [] <pad> else %two : memref<?xf64>, (!tile.span<"m">), f64 -> !M
        %tb = tile.broadcast %t : !K to !KM
        %ub = tile.broadcast %u : !M to !KM
        %ob = tile.broadcast %one : f64 to !KM
        %f = math.fma %tb, %ub, %ob : !KM
        %r = tile.reduce <add> %f over ["k", "m"] : !KM -> f64
        %n = arith.addf %b, %r : f64
        tile.yield %n : f64
      }
      tile.yield %inner : f64
    }
    tile.store %sum, %y at #id(%i) [] : f64, memref<?xf64>, (!tile.span<"i">)
  }
  tile.return
}
