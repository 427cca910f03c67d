// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s -tile-static-assertions -tile-form-fma | FileCheck %s --check-prefix=PASSES

// Assertions and prints: their text, and what passes make of them.

#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!t = tensor<8xf32, #tile.axes<"i">>

// CHECK-LABEL: tile.kernel @speaks
// PASSES-LABEL: tile.kernel @speaks
tile.kernel @speaks(%a: f32, %n: i8, %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %true = arith.constant true
  %false = arith.constant false
  %limit = arith.constant dense<1.0> : !t
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %t = tile.broadcast %a : f32 to !t
    %p = arith.mulf %t, %t : !t
    // CHECK: tile.print ["p ", " and ", ""](%{{.*}}, %{{.*}}) ["f32", "u8"] : (tensor<8xf32, #tile.axes<"i">>, i8)
    tile.print ["p ", " and ", ""] (%p, %n) ["f32", "u8"] : (!t, i8)
    // CHECK: tile.print ["nothing but text"]() [] : ()
    tile.print ["nothing but text"] () [] : ()
    // Showing a product doesn't keep it from being merged.
    // PASSES: math.fma
    %r = arith.addf %p, %t : !t
    %c = arith.cmpf olt, %r, %limit : !t
    // CHECK: tile.assert %{{.*}}, "r is small" : tensor<8xi1, #tile.axes<"i">>
    // PASSES: tile.assert %{{.*}}, "r is small"
    tile.assert %c, "r is small" : tensor<8xi1, #tile.axes<"i">>
    // CHECK: "it is true"
    // PASSES-NOT: "it is true"
    tile.assert %true, "it is true" : i1
    scf.if %true {
      // PASSES: "left to the launch"
      tile.assert %false, "left to the launch" : i1
    }
    tile.store %r, %y at #id(%i)[] : !t, memref<?xf32>, (!tile.span<"i", 8>)
  }
  tile.return
}
