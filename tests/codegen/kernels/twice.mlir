// Reading what was written before, in place.
// dims: N=1,0,7,33
// sizes: i=1,3,16,64
// runs: 8
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xf64, #tile.axes<"i">>
tile.kernel @twice(%x: memref<?xf64> {tile.name = "x", tile.mode = "inout", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %v = tile.load %x at #id(%i)[] <exact> : memref<?xf64>, (!tile.span<"i">) -> !i
    %w = arith.addf %v, %v : !i
    tile.store %w, %x at #id(%i)[] : !i, memref<?xf64>, (!tile.span<"i">)
    %again = tile.load %x at #id(%i)[] <exact> : memref<?xf64>, (!tile.span<"i">) -> !i
    %u = arith.addf %again, %v : !i
    tile.store %u, %x at #id(%i)[] : !i, memref<?xf64>, (!tile.span<"i">)
  }
  tile.return
}
