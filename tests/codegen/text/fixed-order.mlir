// RUN: tile-opt %s -split-input-file -tile-gpu-assign-layouts | FileCheck %s

// Two kernels with the same sum, a row of 333 numbers in each of 4. By themselves they share out the
// rows as their accesses want it; where the order is fixed both add up alike: neighbours along the
// axis that goes in neighbouring lanes, then warps, whatever the order of the tile's axes.

#id = affine_map<(a, b) -> (a, b)>

// CHECK-DAG: #[[ROWS:.*]] = #tile_gpu.layout<["i", "n"], register = [], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[\[}}0, 32], [0, 64], [0, 128]], repeat = [4, 2]>
// CHECK-LABEL: tile.kernel @alone(
tile.kernel @alone(
    %x: memref<?x333xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 333)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"], schedule = {warps = 8}, tile.fixed_order} {
  %c0 = arith.constant 0 : i64
  %c333 = arith.constant 333 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c333 : !tile.span<"n", 333>
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x333xf32>, (!tile.span<"i", 4>, !tile.span<"n", 333>) -> tensor<4x333xf32, #tile.axes<"i", "n">>
    // CHECK: tile.reduce <add> {{.*}} : tensor<4x333xf32, #[[ROWS]]>
    %sum = tile.reduce <add> %t over ["n"] : tensor<4x333xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    tile.store %sum, %s at affine_map<(i) -> (i)>(%i) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

#id = affine_map<(a, b) -> (a, b)>

// CHECK-DAG: #[[COLUMNS:.*]] = #tile_gpu.layout<["n", "i"], register = [], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}32, 0], [64, 0], [128, 0]], repeat = [2, 4]>
// CHECK-DAG: #[[OTHER:.*]] = #tile_gpu.layout<["n", "i"], register = {{\[\[}}0, 1], [0, 2]], lane =
// CHECK-LABEL: tile.kernel @beside(
tile.kernel @beside(
    %x: memref<333x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (333, m)>},
    %y: memref<333x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (333, m)>})
    attributes {dims = ["M"], schedule = {warps = 8}, tile.divisors = {M = 16 : i64}, tile.fixed_order} {
  %c0 = arith.constant 0 : i64
  %c333 = arith.constant 333 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c333 : !tile.span<"n", 333>
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // CHECK: %[[T:.*]] = tile.load {{.*}} -> tensor<333x4xf32, #[[OTHER]]>
    %t = tile.load %x at #id(%n, %i) [] <exact> : memref<333x?xf32>, (!tile.span<"n", 333>, !tile.span<"i", 4>) -> tensor<333x4xf32, #tile.axes<"n", "i">>
    // CHECK: %[[MOVED:.*]] = tile_gpu.convert %[[T]] : {{.*}} to tensor<333x4xf32, #[[COLUMNS]]>
    // CHECK-NEXT: tile.reduce <add> %[[MOVED]]
    %sum = tile.reduce <add> %t over ["n"] : tensor<333x4xf32, #tile.axes<"n", "i">> -> tensor<4xf32, #tile.axes<"i">>
    %b = tile.broadcast %sum : tensor<4xf32, #tile.axes<"i">> to tensor<333x4xf32, #tile.axes<"n", "i">>
    // CHECK: arith.divf %[[T]]
    %q = arith.divf %t, %b : tensor<333x4xf32, #tile.axes<"n", "i">>
    tile.store %q, %y at #id(%n, %i) [] : tensor<333x4xf32, #tile.axes<"n", "i">>, memref<333x?xf32>, (!tile.span<"n", 333>, !tile.span<"i", 4>)
  }
  tile.return
}

// -----

// An update's index along fewer axes than what is added: a part of the layout that is fixed.

// CHECK-DAG: #[[BOTH:.*]] = #tile_gpu.layout<["i", "j"], register = [], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4], [0, 8], [0, 16]], repeat = [1, 1]>
// CHECK-DAG: #[[INDEX:.*]] = #tile_gpu.layout<["i"], register = [], lane = {{\[\[}}1], [2], [4], [0], [0]], warp = {{\[\[}}0], [0], [0]], repeat = [1]>
// CHECK-LABEL: tile.kernel @scatter(
tile.kernel @scatter(
    %x: memref<?xi32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m)>},
    %v: memref<?x?xi32> {tile.name = "v", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<7x?xi32> {tile.name = "y", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = affine_map<()[m, n] -> (7, n)>})
    attributes {dims = ["M", "N"], schedule = {warps = 8}, tile.fixed_order} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M by 8, %j = tiles "j" %c0 to %N by 32) {
    %t = tile.load %v at affine_map<(a, b) -> (a, b)>(%i, %j) [] <exact> : memref<?x?xi32>, (!tile.span<"i", 8>, !tile.span<"j", 32>) -> tensor<8x32xi32, #tile.axes<"i", "j">>
    %k = tile.load %x at affine_map<(a) -> (a)>(%i) [] <exact> : memref<?xi32>, (!tile.span<"i", 8>) -> tensor<8xi32, #tile.axes<"i">>
    %at = arith.extsi %k : tensor<8xi32, #tile.axes<"i">> to tensor<8xi64, #tile.axes<"i">>
    // CHECK: tile.update <add> {{.*}} : tensor<8x32xi32, #[[BOTH]]>, {{.*}}, (tensor<8xi64, #[[INDEX]]>,
    tile.update <add> %t, %y at affine_map<(a, b) -> (a, b)>(%at, %j) [] : tensor<8x32xi32, #tile.axes<"i", "j">>, memref<7x?xi32>, (tensor<8xi64, #tile.axes<"i">>, !tile.span<"j", 32>)
  }
  tile.return
}
