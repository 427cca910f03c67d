// RUN: tile-opt %s -tile-inline-producers | FileCheck %s

// What has been made of a sum already, made more of: one region after the other, before the scalars that it uses. The
// other sum stays an output.

// CHECK-LABEL: tile.graph @rooted
// CHECK: %[[R:.*]]:2 = tile.call @sums.root(%arg1, %arg0)
// CHECK-NEXT: tile.return %[[R]]#0, %[[R]]#1
// CHECK: tile.kernel @sums.root(
// CHECK-SAME: %[[A:.*]]: f32 {{{.*}}tile.name = "a"
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32>
// CHECK-SAME: %[[Y:.*]]: memref<?xf32> {{{.*}}tile.mode = "reduce", tile.name = "y", tile.reduce = #tile.combine<add>
// CHECK-SAME: %[[T:.*]]: memref<?xf32> {{{.*}}tile.mode = "reduce", tile.name = "t", tile.reduce = #tile.combine<max>
// CHECK-SAME: schedule = {i = 16 : i64}
// CHECK: %[[M:.*]] = arith.sitofp
// CHECK: tile.parallel (%{{.*}} = tiles "i"
// CHECK: tile.update <add> %{{.*}}, %[[Y]]
// CHECK: tile.update <max> %{{.*}}, %[[T]]
// CHECK: tile.finish %[[Y]]
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[S]], %[[M]] : f32
// CHECK-NEXT: %[[PLUS:.*]] = math.fma %[[MEAN]], %[[A]], %{{.*}} : f32
// CHECK-NEXT: tile.combined %[[PLUS]] : f32
// CHECK-NOT: tile.finish

#mn = affine_map<()[s0, s1] -> (s0, s1)>
#n = affine_map<()[s0, s1] -> (s1)>
#one = affine_map<()[s0] -> (s0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id = affine_map<(d0) -> (d0)>
module {
  tile.graph @rooted(%arg0: tensor<?x?xf32> {tile.name = "x", tile.shape = #mn, tile.type = "f32"}, %arg1: f32 {tile.name = "a", tile.type = "f32"}) -> (tensor<?xf32> {tile.name = "y", tile.shape = #n, tile.type = "f32"}, tensor<?xf32> {tile.name = "t", tile.shape = #n, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
    %0:2 = tile.call @sums(%arg0) : (tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
    %1 = tile.call @root(%0#0, %arg1) : (tensor<?xf32>, f32) -> tensor<?xf32>
    tile.return %1, %0#1 : tensor<?xf32>, tensor<?xf32>
  }
  tile.kernel @sums(%arg0: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = #mn, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.name = "s", tile.shape = #n, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "reduce", tile.reduce = #tile.combine<max>, tile.name = "t", tile.shape = #n, tile.type = "f32"}) attributes {dims = ["M", "N"], schedule = {i = 16}} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0 = arith.constant 0 : i64
    %m = arith.sitofp %0 : i64 to f32
    %n = tile.axis %c0 to %1 : <"N">
    tile.parallel (%i = tiles "i" %c0 to %0) {
      %2 = tile.load %arg0 at #id2(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
      %3 = tile.reduce <add> %2 over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
      tile.update <add> %3, %arg1 at #id(%n) [] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
      %4 = tile.reduce <max> %2 over ["i"] : tensor<?x?xf32, #tile.axes<"i", "N">> -> tensor<?xf32, #tile.axes<"N">>
      tile.update <max> %4, %arg2 at #id(%n) [] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
    }
    tile.finish %arg1 : memref<?xf32> {
    ^bb0(%s: f32):
      %5 = arith.divf %s, %m : f32
      tile.combined %5 : f32
    }
    tile.return
  }
  tile.kernel @root(%arg0: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = #one, tile.type = "f32"}, %arg1: f32 {tile.mode = "in", tile.name = "a", tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = #one, tile.type = "f32"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0 = arith.constant 0 : i64
    %j = tile.axis %c0 to %0 : <"N">
    tile.parallel () {
      %one = arith.constant 1.0 : f32
      %2 = tile.load %arg0 at #id(%j) [] <exact> : memref<?xf32>, (!tile.span<"N">) -> tensor<?xf32, #tile.axes<"N">>
      %3 = tile.broadcast %arg1 : f32 to tensor<?xf32, #tile.axes<"N">>
      %4 = arith.mulf %2, %3 : tensor<?xf32, #tile.axes<"N">>
      %5 = tile.broadcast %one : f32 to tensor<?xf32, #tile.axes<"N">>
      %6 = arith.addf %4, %5 : tensor<?xf32, #tile.axes<"N">>
      tile.store %6, %arg2 at #id(%j) [] : tensor<?xf32, #tile.axes<"N">>, memref<?xf32>, (!tile.span<"N">)
    }
    tile.return
  }
}
