// RUN: tile-translate --tile-cpu-to-llvm --cpu=x86-64-v4 %s | FileCheck %s

// Loops of four rounds are written out, in vectors of four lanes, and what one of them keeps stays in registers. No
// neighbours become a vector of 512 bits, behind which all the others would wait.

// CHECK-LABEL: define internal void @squares.body(
// CHECK-SAME: #[[SHORT:[0-9]+]] {
// CHECK-COUNT-4: load <4 x float>, ptr
// CHECK-NOT: load <
// CHECK-COUNT-4: fdiv <4 x float>
// CHECK-NOT: fdiv <
// CHECK: define void @squares(
// CHECK: attributes #[[SHORT]] = { {{.*}}"min-legal-vector-width"="256"{{.*}}"prefer-vector-width"="256"
tile.kernel @squares(
    %x: memref<?x4x4xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 4, 4)>},
    %y: memref<?x4x4xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 4, 4)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %M = tile.dim "M"
  %i = tile.axis %c0 to %c4 : !tile.span<"i", 4>
  %c = tile.axis %c0 to %c4 : !tile.span<"c", 4>
  tile.parallel (%m = each "m" %c0 to %M) {
    %t = tile.load %x at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %c)[%m] <exact> : memref<?x4x4xf32>, (!tile.span<"i", 4>, !tile.span<"c", 4>) -> tensor<4x4xf32, #tile.axes<"i", "c">>
    %e = math.exp %t : tensor<4x4xf32, #tile.axes<"i", "c">>
    %s = tile.reduce <add> %e over ["c"] : tensor<4x4xf32, #tile.axes<"i", "c">> -> tensor<4xf32, #tile.axes<"i">>
    %w = tile.broadcast %s : tensor<4xf32, #tile.axes<"i">> to tensor<4x4xf32, #tile.axes<"i", "c">>
    %q = arith.divf %e, %w : tensor<4x4xf32, #tile.axes<"i", "c">>
    tile.store %q, %y at affine_map<(d0, d1)[s0] -> (s0, d0, d1)>(%i, %c)[%m] : tensor<4x4xf32, #tile.axes<"i", "c">>, memref<?x4x4xf32>, (!tile.span<"i", 4>, !tile.span<"c", 4>)
  }
  tile.return
}
