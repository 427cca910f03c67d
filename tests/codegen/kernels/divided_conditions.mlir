// Conditions on remainders and quotients of what lanes count: by a number, and by one that a launch
// knows.
// types: f32 f64
// dims: M=1,0,5,33 N=1,0,5,16,17,40,100
// sizes: i=1,4,16 j=5,16,64 k=5,16,64
// range s: -40 .. 40
// range t: -20 .. 40
// runs: 16
#m = affine_map<()[m, n] -> (m)>
#mn = affine_map<()[m, n] -> (m, n)>
!i = tensor<?x$T, #tile.axes<"i">>
!ij = tensor<?x?x$T, #tile.axes<"i", "j">>
tile.kernel @divided_conditions(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %s: i64 {tile.name = "s", tile.mode = "in"},
    %t: i64 {tile.name = "t", tile.mode = "in"},
    %y: memref<?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #m},
    %z: memref<?x$T> {tile.name = "z", tile.mode = "out", tile.shape = #m})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %zero = arith.constant 0.0 : $T
    %init = tile.broadcast %zero : $T to !i
    %thirds = tile.for fold %j = "j" %c0 to %N iter_args(%sum = %init : !i) {
      tile.restrict affine_set<(d0)[s0] : ((d0 + s0) mod 3 == 0)>(%j)[%s] : !tile.span<"j">
      %v = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"j">) -> !ij
      %part = tile.reduce <add> %v over ["j"] : !ij -> !i
      %next = arith.addf %sum, %part : !i
      tile.yield %next : !i
    }
    tile.store %thirds, %y at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
    %parts = tile.for fold %k = "k" %c0 to %N iter_args(%sum = %init : !i) {
      tile.restrict affine_set<(d0)[s0, s1] : ((d0 + s0) mod s1 - 1 >= 0)>(%k)[%s, %t] : !tile.span<"k">
      %v = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %k)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?x$T, #tile.axes<"i", "k">>
      %part = tile.reduce <add> %v over ["k"] : tensor<?x?x$T, #tile.axes<"i", "k">> -> !i
      %next = arith.addf %sum, %part : !i
      tile.yield %next : !i
    }
    tile.store %parts, %z at affine_map<(d0) -> (d0)>(%i)[] : !i, memref<?x$T>, (!tile.span<"i">)
  }
  tile.return
}
