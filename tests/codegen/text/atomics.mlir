// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | FileCheck %s
// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | tile-opt -split-input-file | FileCheck %s

// One operation for each coordinate of the axes of index and value together: what lacks some of
// them is broadcast, and held as the result is.

// CHECK-DAG: #[[BOTH:.*]] = #tile_gpu.layout<["i", "j"],
// CHECK-DAG: #[[ROWS:.*]] = #tile_gpu.layout<["i"],
// CHECK-LABEL: tile.kernel @scatter(
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
tile.kernel @scatter(
    %at: memref<?xi64> {tile.name = "at", tile.mode = "in", tile.shape = #n},
    %x: memref<?xi32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
    %h: memref<?xi32> {tile.name = "h", tile.mode = "inout", tile.shape = #n})
    attributes {dims = ["N"], schedule = {warps = 2}} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %c32 = arith.constant 32 : i64
  %N = tile.dim "N"
  tile.parallel grid (%p = each "p" %c0 to %N) {
    %i = tile.axis %c0 to %c8 : !tile.span<"i", 8>
    %j = tile.axis %c0 to %c32 : !tile.span<"j", 32>
    // CHECK: %[[AT:.*]] = tile.load {{.*}} -> tensor<8xi64, #[[ROWS]]>
    %a = tile.load %at at #id(%i) [] <exact> : memref<?xi64>, (!tile.span<"i", 8>) -> tensor<8xi64, #tile.axes<"i">>
    %v = tile.load %x at #id(%j) [] <exact> : memref<?xi32>, (!tile.span<"j", 32>) -> tensor<32xi32, #tile.axes<"j">>
    // CHECK: %[[ALL:.*]] = tile.broadcast {{.*}} : tensor<32xi32, {{.*}}> to tensor<8x32xi32, #[[BOTH]]>
    // CHECK: %[[INDEX:.*]] = tile_gpu.convert %[[AT]] : tensor<8xi64, #[[ROWS]]> to tensor<8xi64, #[[PART:.*]]>
    // CHECK: tile.atomic <add> <relaxed> %[[ALL]], {{.*}}(%[[INDEX]]){{.*}} -> tensor<8x32xi32, #[[BOTH]]>
    %o = tile.atomic <add> <relaxed> %v, %h at #id(%a) [] drop : tensor<32xi32, #tile.axes<"j">>, memref<?xi32>, (tensor<8xi64, #tile.axes<"i">>) -> tensor<8x32xi32, #tile.axes<"i", "j">>
  }
  tile.return
}
