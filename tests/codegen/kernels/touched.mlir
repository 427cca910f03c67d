// Carried values keep what a block does not touch.
// dims: N=1,0,9,20
// sizes: i=1,4,16 j=1,2,4,16
// runs: 10
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xi64, #tile.axes<"i">>
tile.kernel @touched(
    %rows: memref<?xi64> {tile.name = "rows", tile.mode = "out", tile.shape = #n},
    %all: memref<?xi64> {tile.name = "all", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"], consts = {N}} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %init = tile.broadcast %c0 : i64 to !i
    %r:2 = tile.for reassociable %j = "j" %c0 to %N iter_args(%row = %init : !i, %n = %c0 : i64) {
      tile.restrict affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j)[] : !tile.span<"i">, !tile.span<"j">
      tile.restrict affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%j)[%c2] : !tile.span<"j">
      %ones = tile.broadcast %c1 : i64 to !i
      %row2 = arith.addi %row, %ones : !i
      %n2 = arith.addi %n, %c1 : i64
      tile.yield %row2, %n2 : !i, i64
    }
    tile.store %r#0, %rows at #id(%i)[] : !i, memref<?xi64>, (!tile.span<"i">)
    tile.store %r#1, %all at #id(%i)[] : i64, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}
