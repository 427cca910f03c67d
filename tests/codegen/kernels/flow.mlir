// Tiles carried through scf.for, scf.if and scf.while.
// dims: N=1,10,33
// sizes: i=1,4,32
// range x: 1 .. 60
// runs: 8
#n = affine_map<()[n] -> (n)>
#at = affine_map<()[s0] -> (s0)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<?xi64, #tile.axes<"i">>
tile.kernel @flow(
    %x: memref<?xi64> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %which: i1 {tile.name = "which", tile.mode = "in"},
    %steps: memref<?xi64> {tile.name = "steps", tile.mode = "out", tile.shape = #n},
    %cubes: memref<?xi64> {tile.name = "cubes", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %v = tile.load %x at #id(%i)[] <exact> : memref<?xi64>, (!tile.span<"i">) -> !i
    %ones = tile.broadcast %c1 : i64 to !i
    %p = scf.for %r = %c0 to %c3 step %c1 iter_args(%t = %ones) -> (!i) : i64 {
      %u = arith.muli %t, %v : !i
      scf.yield %u : !i
    }
    %q = scf.if %which -> (!i) {
      scf.yield %p : !i
    } else {
      %neg = arith.subi %ones, %p : !i
      scf.yield %neg : !i
    }
    tile.store %q, %cubes at #id(%i)[] : !i, memref<?xi64>, (!tile.span<"i">)
    %first = tile.reduce <max> %v over ["i"] : !i -> i64
    %w:2 = scf.while (%m = %first, %n = %c0) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi sgt, %m, %c1 : i64
      scf.condition(%more) %m, %n : i64, i64
    } do {
    ^bb0(%m: i64, %n: i64):
      %odd = tile.rem %m, %c2 : i64
      %isOdd = arith.cmpi ne, %odd, %c0 : i64
      %next = scf.if %isOdd -> (i64) {
        %m3 = arith.muli %m, %c3 : i64
        %m4 = arith.addi %m3, %c1 : i64
        scf.yield %m4 : i64
      } else {
        %half = tile.div %m, %c2 : i64
        scf.yield %half : i64
      }
      %n2 = arith.addi %n, %c1 : i64
      scf.yield %next, %n2 : i64, i64
    }
    tile.store %w#1, %steps at #id(%i)[] : i64, memref<?xi64>, (!tile.span<"i">)
  }
  tile.return
}
