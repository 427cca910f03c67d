// Functions that branch, of rows of a few columns that are put together in registers, beside what a row has for all of
// them; and a sum of long chains that a loop carries on.
// types: f32
// dims: N=35,1,0,16,200 L=1100,1,0,70,1027
// sizes: i=16,1,4,32
// tolerance: 1e-4
// range x: -9 .. 9
// runs: 16
#id = affine_map<(d0, d1) -> (d0, d1)>
#own = affine_map<(d0) -> (d0)>
#nk = affine_map<()[n, l] -> (n, 3)>
#nl = affine_map<()[n, l] -> (n, l)>
#n = affine_map<()[n, l] -> (n)>
!f = tensor<?x3xf32, #tile.axes<"i", "k">>
!g = tensor<?x?xf32, #tile.axes<"i", "L">>
!r = tensor<?xf32, #tile.axes<"i">>
tile.kernel @placed_functions(
    %x: memref<?x3xf32> {tile.name = "x", tile.mode = "in", tile.shape = #nk},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "in", tile.shape = #n},
    %z: memref<?x?xf32> {tile.name = "z", tile.mode = "in", tile.shape = #nl},
    %y: memref<?x3xf32> {tile.name = "y", tile.mode = "out", tile.shape = #nk},
    %c: memref<?xf32> {tile.name = "c", tile.mode = "out", tile.shape = #n},
    %d: memref<?xf32> {tile.name = "d", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N", "L"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %half = arith.constant 0.5 : f32
  %N = tile.dim "N"
  %L = tile.dim "L"
  %k = tile.axis %c0 to %c3 : !tile.span<"k", 3>
  %l = tile.axis %c0 to %L : !tile.span<"L">
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %tx = tile.load %x at #id(%i, %k)[] <exact> : memref<?x3xf32>, (!tile.span<"i">, !tile.span<"k", 3>) -> !f
    %ts = tile.load %s at #own(%i)[] <exact> : memref<?xf32>, (!tile.span<"i">) -> !r
    %sine = math.sin %tx : !f
    %bs = tile.broadcast %ts : !r to !f
    %p = arith.mulf %sine, %bs : !f
    tile.store %p, %y at #id(%i, %k)[] : !f, memref<?x3xf32>, (!tile.span<"i">, !tile.span<"k", 3>)
    %tz = tile.load %z at #id(%i, %l)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"L">) -> !g
    %z0 = math.tanh %tz : !g
    %z1 = math.exp %z0 : !g
    %z2 = math.sin %z1 : !g
    %sum = tile.reduce <add> %z2 over ["L"] : !g -> !r
    tile.store %sum, %c at #own(%i)[] : !r, memref<?xf32>, (!tile.span<"i">)
    %halves = tile.broadcast %half : f32 to !r
    %carried = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %sum) -> (!r) : i64 {
      %b = arith.mulf %a, %halves : !r
      scf.yield %b : !r
    }
    tile.store %carried, %d at #own(%i)[] : !r, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}
