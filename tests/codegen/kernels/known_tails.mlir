// A tail that is known, and a condition on what comes: of the second half of its lanes all are
// known to be outside.
// types: f64
// dims: P=1
// tolerance: 1e-12
// special: x
// runs: 40
#v = affine_map<()[p] -> (9)>
#m = affine_map<()[p] -> (9, 9)>
#o = affine_map<()[p] -> (8)>
tile.kernel @known_tails(%x: memref<9xf64> {tile.mode = "in", tile.name = "x", tile.shape = #v}, %h: memref<9x9xf16> {tile.mode = "in", tile.name = "h", tile.shape = #m}, %y: memref<8xf64> {tile.mode = "out", tile.name = "y", tile.shape = #o}) attributes {dims = ["P"]} {
  %c9 = arith.constant 9 : i64
  %c0 = arith.constant 0 : i64
  %P = tile.dim "P"
  tile.parallel grid (%p = each "p" %c0 to %P) {
    %b = tile.axis %c0 to %c9 : <"b", 9>
    tile.restrict affine_set<(d0)[s0] : (-(d0 + s0 * 9) + 7 >= 0)>(%b) [%p] : !tile.span<"b", 9>
    %t = tile.load %x at affine_map<(d0) -> (d0)>(%b) [] <exact> : memref<9xf64>, (!tile.span<"b", 9>) -> tensor<9xf64, #tile.axes<"b">>
    %d = tile.load %h at affine_map<(d0) -> (d0, d0)>(%b) [] <exact> : memref<9x9xf16>, (!tile.span<"b", 9>) -> tensor<9xf16, #tile.axes<"b">>
    %wide = arith.extf %d : tensor<9xf16, #tile.axes<"b">> to tensor<9xf64, #tile.axes<"b">>
    %q = arith.divf %t, %wide : tensor<9xf64, #tile.axes<"b">>
    tile.store %q, %y at affine_map<(d0)[s0] -> (d0 + s0 * 9)>(%b) [%p] : tensor<9xf64, #tile.axes<"b">>, memref<8xf64>, (!tile.span<"b", 9>)
  }
  tile.return
}
