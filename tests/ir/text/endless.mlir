// RUN: tile-opt %s -canonicalize -cse -canonicalize | FileCheck %s

// What a loop doesn't change is known behind it, but the loop stays: it may be one that doesn't end.

// CHECK-LABEL: tile.kernel @endless(
// CHECK: scf.while
// CHECK: arith.cmpf olt
// CHECK: scf.condition
// CHECK: tile.may_not_end
// CHECK: scf.yield
// CHECK: tile.store
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = !tile.span<"i", 8>
!t = tensor<8xf32, #tile.axes<"i">>
tile.kernel @endless(%s: f32 {tile.name = "s", tile.mode = "in"},
                     %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %r = scf.while (%u = %s) : (f32) -> f32 {
      %less = arith.cmpf olt, %u, %one : f32
      scf.condition(%less) %u : f32
    } do {
    ^bb0(%u: f32):
      tile.may_not_end
      %v = arith.mulf %u, %one : f32
      scf.yield %v : f32
    }
    %b = tile.broadcast %r : f32 to !t
    tile.store %b, %y at #id(%i)[] : !t, memref<?xf32>, (!i)
  }
  tile.return
}
