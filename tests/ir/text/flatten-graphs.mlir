// RUN: tile-opt %s -tile-flatten-graphs -split-input-file -verify-diagnostics -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// @outer calls @middle, that @inner: what is left are calls of kernels. Dims of the callees are expressions over those of
// @outer, `K` of @inner is the number that @middle gives; what was checked when @inner was called is required of @outer.

// CHECK-LABEL: tile.graph @outer(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x?xf32> {{.*}}, %[[B:.*]]: tensor<?xf32>
// CHECK-NEXT: %[[UNUSED:.*]] = tile.dim "B"
// CHECK-NEXT: %[[N:.*]] = tile.dim "B"
// CHECK-NEXT: %[[K:.*]] = tile.dim "B"
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: tile.require %[[SAME]], "the extents that `inner` declares for `b`"
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %{{.*}} : i64
// CHECK-NEXT: tile.require %[[ANY]], "N > 0 in `inner`"
// CHECK-NEXT: %[[T:.*]] = tile.call @copy(%[[X]]) : {{.*}} loc(callsite("inner"("g.tile":3:5) at callsite("middle"("g.tile":7:5) at "outer"("g.tile":11:5))))
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[K]], %{{.*}} : i64
// CHECK-NEXT: %[[U:.*]] = tile.call @column(%[[T]]) consts ["K"](%[[NEXT]])
// CHECK-NEXT: tile.return %[[U]], %[[X]]
tile.graph @outer(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %b: tensor<?xf32> {tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s2)>, tile.type = "f32"}) -> (tensor<?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0)>, tile.type = "f32"}, tensor<?x?xf32> {tile.name = "z", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["A", "B", "C"]} {
  %y, %z = tile.call @middle(%x, %b) : (tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) loc("outer"("g.tile":11:5))
  tile.return %y, %z : tensor<?xf32>, tensor<?x?xf32>
}
tile.graph @middle(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %b: tensor<?xf32> {tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s2)>, tile.type = "f32"}) -> (tensor<?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0)>, tile.type = "f32"}, tensor<?x?xf32> {tile.name = "z", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["P", "Q", "R"]} {
  %Q = tile.dim "Q"
  %y = tile.call @inner(%x, %b) consts ["K"](%Q) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("middle"("g.tile":7:5))
  tile.return %y, %x : tensor<?xf32>, tensor<?x?xf32>
}
tile.graph @inner(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %b: tensor<?xf32> {tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s1)>, tile.type = "f32"}) -> (tensor<?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0)>, tile.type = "f32"}) attributes {consts = {K}, dims = ["M", "N", "K"]} {
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %any = arith.cmpi sgt, %N, %c0 : i64
  tile.require %any, "N > 0"
  %t = tile.call @copy(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32> loc("inner"("g.tile":3:5))
  %next = arith.addi %K, %c1 : i64
  %y = tile.call @column(%t) consts ["K"](%next) : (tensor<?x?xf32>) -> tensor<?xf32>
  tile.return %y : tensor<?xf32>
}
tile.kernel @copy(
    %x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"},
    %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %v = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %v, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
tile.kernel @column(
    %x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"},
    %y: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1, s2] -> (s0)>, tile.type = "f32"}) attributes {consts = {K}, dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %v = tile.load %x at affine_map<(d0)[s0] -> (d0, s0)>(%i) [%K] <pad> else %zero : memref<?x?xf32>, (!tile.span<"i">), f32 -> tensor<?xf32, #tile.axes<"i">>
    tile.store %v, %y at affine_map<(d0) -> (d0)>(%i) [] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// -----

// expected-error @+1 {{graph `f` calls itself}}
tile.graph @f(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %y = tile.call @g(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  tile.return %y : tensor<?x?xf32>
}
tile.graph @g(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %y = tile.call @f(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  tile.return %y : tensor<?x?xf32>
}
