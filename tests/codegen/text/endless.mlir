// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s --check-prefix=PTX
// RUN: tile-translate --tile-cpu-to-llvm %s | FileCheck %s --check-prefix=CPU

// A loop that changes nothing ends nowhere if its condition holds: it stays, on all targets.

// PTX: setp.lt.f32 [[LESS:%p[0-9]+]], {{.*}}, 0f3F800000;
// PTX: [[LOOP:\$L__BB0_[0-9]+]]:
// PTX: @[[LESS]] bra [[LOOP]];
// PTX: st.global.b32

// CPU: [[LESS:%[0-9]+]] = fcmp olt float {{.*}}, 1.000000e+00
// CPU: br i1 [[LESS]], label %[[LOOP:[0-9]+]], label %[[END:[0-9]+]]
// CPU: [[END]]: {{.*}} preds = %[[LOOP]]
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
