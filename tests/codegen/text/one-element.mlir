// RUN: tile-translate --tile-cpu-to-llvm %s | FileCheck %s
// RUN: tile-translate --tile-cpu-to-asm --cpu=x86-64-v2 %s | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-cpu-to-asm --cpu=x86-64-v3 %s | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-cpu-to-asm --cpu=x86-64-v4 %s | FileCheck %s --check-prefix=ASM
// RUN: tile-translate --tile-cpu-to-asm --cpu=sapphirerapids %s | FileCheck %s --check-prefix=ASM

// One element for all lanes: loaded once, if any lane of the tail has it, and not at all by addresses that are a vector.

// CHECK-LABEL: define internal void @one_element.body(
// CHECK-NOT: load i16, <
// CHECK: %[[LANES:.*]] = bitcast <16 x i1> %{{.*}} to i16
// CHECK: %[[NONE:.*]] = icmp eq i16 %[[LANES]], 0
// CHECK: %[[FROM:.*]] = select i1 %[[NONE]], ptr %{{.*}}, ptr %{{.*}}
// CHECK-NEXT: load i16, ptr %[[FROM]]
// CHECK-NOT: load i16, <

// ASM-LABEL: one_element.body:
#n = affine_map<()[n, m] -> (n)>
#m = affine_map<()[n, m] -> (m)>
#id = affine_map<(d0) -> (d0)>
tile.kernel @one_element(
    %x: memref<?xf16> {tile.name = "x", tile.mode = "in", tile.shape = #m},
    %y: memref<?xf16> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N", "M"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f16
  %N = tile.dim "N"
  %first = arith.constant dense<0> : tensor<2xi64, #tile.axes<"i">>
  tile.parallel (%i = tiles "i" %c0 to %N by 2) {
    %v = tile.load %x at #id(%first)[] <pad> else %zero : memref<?xf16>, (tensor<2xi64, #tile.axes<"i">>), f16 -> tensor<2xf16, #tile.axes<"i">>
    tile.store %v, %y at #id(%i)[] : tensor<2xf16, #tile.axes<"i">>, memref<?xf16>, (!tile.span<"i", 2>)
  }
  tile.return
}
