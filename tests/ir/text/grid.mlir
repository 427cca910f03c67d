// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --tile-prove --tile-specialize=dims=N=100 | FileCheck %s --check-prefix=SIZED

// Grid kernels: one program an integer, scattered stores, atomic operations.

#n = affine_map<()[n, b] -> (n)>
#b = affine_map<()[n, b] -> (b)>
#block = affine_map<(d0)[s0] -> (d0 + s0 * 64)>
#data = affine_map<(d0) -> (d0)>
#one = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: tile.kernel @grid
// SIZED-LABEL: tile.kernel @grid
tile.kernel @grid(
    %x: memref<?xi32> {tile.name = "x", tile.type = "i32", tile.mode = "in", tile.shape = #n},
    %h: memref<?xi32> {tile.name = "h", tile.type = "i32", tile.mode = "inout", tile.shape = #b})
    attributes {dims = ["N", "B"]} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %one = arith.constant 1 : i32
  %N = tile.dim "N"
  // CHECK: tile.parallel grid (%[[P:.*]] = each "p" %{{.*}} to %{{.*}}) {
  // SIZED: tile.parallel grid (%{{.*}} = each "p" %{{.*}} to %{{.*}}) {
  tile.parallel grid (%p = each "p" %c0 to %N) {
    %i = tile.axis %c0 to %c64 : !tile.span<"i", 64>
    // CHECK: tile.load %{{.*}} at #{{.*}}(%{{.*}}) [%[[P]]] <exact>
    %t = tile.load %x at #block(%i)[%p] <exact> : memref<?xi32>, (!tile.span<"i", 64>) -> tensor<64xi32, #tile.axes<"i">>
    // CHECK: %[[OLD:.*]] = tile.atomic <add> <relaxed> %{{.*}}, %{{.*}} at #{{.*}}(%{{.*}}) [] drop : i32, memref<?xi32>, (tensor<64xi32, #tile.axes<"i">>) -> tensor<64xi32, #tile.axes<"i">>
    %old = tile.atomic <add> <relaxed> %one, %h at #data(%t)[] drop : i32, memref<?xi32>, (tensor<64xi32, #tile.axes<"i">>) -> tensor<64xi32, #tile.axes<"i">>
    // CHECK: tile.atomic <cas> <acq_rel> %[[OLD]] if %{{.*}}, %{{.*}} at #{{.*}}() [%[[P]]] : tensor<64xi32, #tile.axes<"i">> if i32, memref<?xi32>, () -> tensor<64xi32, #tile.axes<"i">>
    %seen = tile.atomic <cas> <acq_rel> %old if %one, %h at #one()[%p] : tensor<64xi32, #tile.axes<"i">> if i32, memref<?xi32>, () -> tensor<64xi32, #tile.axes<"i">>
    // CHECK: tile.store %{{.*}}, %{{.*}} at #{{.*}}(%{{.*}}) [] drop : tensor<64xi32, #tile.axes<"i">>, memref<?xi32>, (tensor<64xi32, #tile.axes<"i">>)
    tile.store %seen, %h at #data(%t)[] drop : tensor<64xi32, #tile.axes<"i">>, memref<?xi32>, (tensor<64xi32, #tile.axes<"i">>)
  }
  tile.return
}

// Equal atomic operations are two; one whose value nobody wants is one still.
// SIZED: tile.atomic <exchange>
// SIZED: tile.atomic <exchange>
tile.kernel @twice(
    %h: memref<?xf32> {tile.name = "h", tile.type = "f32", tile.mode = "inout", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant 1.0 : f32
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    %a = tile.atomic <exchange> <release> %v, %h at #one()[%p] : f32, memref<?xf32>, () -> f32
    %b = tile.atomic <exchange> <release> %v, %h at #one()[%p] : f32, memref<?xf32>, () -> f32
  }
  tile.return
}
