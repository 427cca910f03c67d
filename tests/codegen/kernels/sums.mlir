// `reduce` outputs: by columns, to one element, and a histogram.
// dims: M=1,0,5,64 N=1,0,3,40 B=4
// sizes: i=1,13,100
// range x: -15 .. 55
// runs: 10
#mn = affine_map<()[m, n, b] -> (m, n)>
#n = affine_map<()[m, n, b] -> (n)>
#b = affine_map<()[m, n, b] -> (b)>
#one = affine_map<()[m, n, b] -> (1)>
#id = affine_map<(d0) -> (d0)>
!iN = tensor<?x?xi32, #tile.axes<"i", "N">>
tile.kernel @sums(
    %x: memref<?x?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %total: memref<?xi32> {tile.name = "total", tile.type = "i32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #n},
    %least: memref<1xi32> {tile.name = "least", tile.type = "i32", tile.mode = "reduce", tile.reduce = #tile.combine<min>, tile.shape = #one},
    %hist: memref<?xf32> {tile.name = "hist", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.unordered, tile.shape = #b})
    attributes {dims = ["M", "N", "B"], consts = {B = 4}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %Nn = tile.dim "N"
  %N = tile.axis %c0 to %Nn : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %N)[] <exact> : memref<?x?xi32>, (!tile.span<"i">, !tile.span<"N">) -> !iN
    %s = tile.reduce <add> %t over ["i"] : !iN -> tensor<?xi32, #tile.axes<"N">>
    tile.update <add> %s, %total at #id(%N)[] : tensor<?xi32, #tile.axes<"N">>, memref<?xi32>, (!tile.span<"N">)
    %low = tile.reduce <min> %t over ["N", "i"] : !iN -> i32
    tile.update <min> %low, %least at affine_map<() -> (0)>()[] : i32, memref<1xi32>, ()
    %ten = arith.constant 10 : i32
    %tens = tile.broadcast %ten : i32 to !iN
    %bin = tile.div %t, %tens : !iN
    %one = arith.constant 1.0 : f32
    tile.update <add> %one, %hist at #id(%bin)[] : f32, memref<?xf32>, (!iN)
  }
  tile.return
}
