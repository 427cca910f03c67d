// Chains of roundings and one function, of rows of any length, in which what is rounded on the way is stored, too.
// types: f16 bf16
// dims: M=33,1,0,2,17 N=1057,0,1,15,31,32,48,63,64,511,512,513,529,1023,1024,1040,2100
// sizes: i=16,1,4,32
// tolerance: 2e-2
// runs: 24
#mn = affine_map<()[m, n] -> (m, n)>
#n = affine_map<()[m, n] -> (n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#own = affine_map<(d0) -> (d0)>
!t = tensor<?x?x$T, #tile.axes<"i", "N">>
!f = tensor<?x?xf32, #tile.axes<"i", "N">>
!r = tensor<?xf32, #tile.axes<"i">>
tile.kernel @cut_roundings(
    %x: memref<?x?x$T> {tile.name = "x", tile.mode = "in", tile.shape = #mn},
    %a: memref<?x$T> {tile.name = "a", tile.mode = "in", tile.shape = #n},
    %p: memref<?x?x$T> {tile.name = "p", tile.mode = "out", tile.shape = #mn},
    %y: memref<?x?x$T> {tile.name = "y", tile.mode = "out", tile.shape = #mn})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %tx = tile.load %x at #id(%i, %n)[] <exact> : memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">) -> !t
    %ta = tile.load %a at #own(%n)[] <exact> : memref<?x$T>, (!tile.span<"N">) -> tensor<?x$T, #tile.axes<"N">>
    %fa = arith.extf %ta : tensor<?x$T, #tile.axes<"N">> to tensor<?xf32, #tile.axes<"N">>
    %ba = tile.broadcast %fa : tensor<?xf32, #tile.axes<"N">> to !f
    %fx = arith.extf %tx : !t to !f
    %p0 = arith.mulf %fx, %ba : !f
    %p1 = arith.truncf %p0 : !f to !t
    %p2 = arith.extf %p1 : !t to !f
    %s0 = arith.addf %p2, %ba : !f
    %s1 = arith.truncf %s0 : !f to !t
    %s2 = arith.extf %s1 : !t to !f
    %t0 = math.tanh %s2 : !f
    %t1 = arith.truncf %t0 : !f to !t
    %t2 = arith.extf %t1 : !t to !f
    %m = tile.reduce <add> %fx over ["N"] : !f -> !r
    %e = math.exp %m : !r
    %one = arith.constant 1.0 : f32
    %ones = tile.broadcast %one : f32 to !r
    %q = arith.addf %e, %ones : !r
    %w = arith.divf %ones, %q : !r
    %bw = tile.broadcast %w : !r to !f
    %y0 = arith.mulf %t2, %bw : !f
    %y1 = arith.truncf %y0 : !f to !t
    tile.store %p1, %p at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
    tile.store %y1, %y at #id(%i, %n)[] : !t, memref<?x?x$T>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}
