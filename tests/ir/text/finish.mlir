// RUN: tile-opt %s | tile-opt | FileCheck %s

// What the elements of a `reduce` output become when all programs have ended.

#x = affine_map<()[n] -> (n)>
#one = affine_map<()[n] -> (1)>
#id = affine_map<(d0) -> (d0)>
#first = affine_map<() -> (0)>
// CHECK-LABEL: tile.kernel @mean
tile.kernel @mean(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = #x},
    %y: memref<1xf32> {tile.name = "y", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #one})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  // CHECK: %[[COUNT:.*]] = arith.sitofp
  %count = arith.sitofp %N : i64 to f32
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %t = tile.load %x at #id(%i) [] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %s = tile.reduce <add> %t over ["i"] : tensor<?xf32, #tile.axes<"i">> -> f32
    tile.update <add> %s, %y at #first() [] : f32, memref<1xf32>, ()
  }
  // CHECK: tile.finish %{{.*}} : memref<1xf32> {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
  // CHECK-NEXT: %[[M:.*]] = arith.divf %[[S]], %[[COUNT]] : f32
  // CHECK-NEXT: tile.combined %[[M]] : f32
  tile.finish %y : memref<1xf32> {
  ^bb0(%s: f32):
    %m = arith.divf %s, %count : f32
    tile.combined %m : f32
  }
  tile.return
}
