// Arithmetic, comparisons and conversions between all float types, transposed.
// types: f64 f16 bf16 f8E4M3FN f8E5M2
// dims: M=1,0,5,17,40 N=1,0,3,16,37
// sizes: i=2,1,16,33 j=3,1,16,33
// special: x
// runs: 8
#mn = affine_map<()[m, n] -> (m, n)>
#nm = affine_map<()[m, n] -> (n, m)>
#n = affine_map<()[m, n] -> (n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
!t = tensor<?x?x$T, #tile.axes<"i", "j">>
tile.kernel @floats(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %u: memref<?xf32> {tile.name = "u", tile.mode = "in", tile.shape = #n},
    %s: f32 {tile.name = "s", tile.mode = "in"},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #nm},
    %z: memref<?x?xf32> {tile.name = "z", tile.mode = "out", tile.shape = #mn},
    %k: memref<?x?xi8> {tile.name = "k", tile.mode = "out", tile.shape = #mn},
    %b: memref<?x?xi1> {tile.name = "b", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %v = tile.load %x at #id(%i, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">) -> !t
    %tu = tile.load %u at affine_map<(d0) -> (d0)>(%j)[] <exact> : memref<?xf32>, (!tile.span<"j">) -> tensor<?xf32, #tile.axes<"j">>
    %ub = tile.broadcast %tu : tensor<?xf32, #tile.axes<"j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
    %sb = tile.broadcast %s : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
    %w = $TO_F32 %v : !t to tensor<?x?xf32, #tile.axes<"i", "j">>
    %p = arith.mulf %w, %sb : tensor<?x?xf32, #tile.axes<"i", "j">>
    %q = arith.addf %p, %ub : tensor<?x?xf32, #tile.axes<"i", "j">>
    %m = arith.maximumf %q, %ub : tensor<?x?xf32, #tile.axes<"i", "j">>
    %n = arith.minnumf %m, %sb : tensor<?x?xf32, #tile.axes<"i", "j">>
    %f = math.floor %n : tensor<?x?xf32, #tile.axes<"i", "j">>
    %d = arith.divf %f, %q : tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %d, %z at #id(%i, %j)[] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    %r = $FROM_F32 %q : tensor<?x?xf32, #tile.axes<"i", "j">> to !t
    %less = arith.cmpf olt, %q, %ub : tensor<?x?xf32, #tile.axes<"i", "j">>
    %sel = arith.select %less, %r, %v : tensor<?x?xi1, #tile.axes<"i", "j">>, !t
    tile.store %sel, %y at #id(%j, %i)[] : !t, memref<?x?x$T>, (!tile.span<"j">, !tile.span<"i">)
    %wide = arith.mulf %q, %q : tensor<?x?xf32, #tile.axes<"i", "j">>
    %wider = arith.mulf %wide, %wide : tensor<?x?xf32, #tile.axes<"i", "j">>
    %int = tile.fptoint %wider : tensor<?x?xf32, #tile.axes<"i", "j">> to tensor<?x?xi8, #tile.axes<"i", "j">>
    tile.store %int, %k at #id(%i, %j)[] : tensor<?x?xi8, #tile.axes<"i", "j">>, memref<?x?xi8>, (!tile.span<"i">, !tile.span<"j">)
    tile.store %less, %b at #id(%i, %j)[] : tensor<?x?xi1, #tile.axes<"i", "j">>, memref<?x?xi1>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
