// RUN: tile-opt %s -tile-merge-equal-calls | FileCheck %s --check-prefix=EQUAL
// RUN: tile-opt %s -tile-drop-dead-calls | FileCheck %s --check-prefix=DEAD
// RUN: tile-opt %s -tile-merge-equal-calls -tile-drop-dead-calls | FileCheck %s --check-prefix=BOTH

// @copy and @copy_too are equal, and so are the two numbers; what asserts is called as often as it is written.

// EQUAL-LABEL: tile.graph @g(
// EQUAL-SAME: %[[X:[^:]*]]: tensor
// EQUAL: %[[A:.*]] = tile.call @copy(%[[X]])
// EQUAL-NEXT: %[[B:.*]] = tile.call @says(%[[A]])
// EQUAL-NEXT: %[[C:.*]] = tile.call @says(%[[A]])
// EQUAL-NEXT: %[[K:.*]] = arith.constant 1
// EQUAL-NEXT: %[[D:.*]] = tile.call @column(%[[X]]) consts ["K"](%[[K]])
// EQUAL-NEXT: %[[L:.*]] = arith.constant 2
// EQUAL-NEXT: %[[F:.*]] = tile.call @column(%[[X]]) consts ["K"](%[[L]])
// EQUAL-NEXT: tile.call @copy(%[[A]])
// EQUAL-NEXT: tile.call @needs
// EQUAL-NEXT: tile.return %[[B]], %[[D]], %[[D]], %[[F]]

// Nobody uses @needs, and then what only it used; the graph has its requirement.

// DEAD-LABEL: tile.graph @g(
// DEAD-NOT: tile.call @needs
// DEAD: tile.call @copy(
// DEAD: tile.call @copy_too(
// DEAD-COUNT-2: tile.call @says(
// DEAD-COUNT-3: tile.call @column(
// DEAD-NOT: tile.call @
// DEAD: %[[ANY:.*]] = arith.cmpi sgt, %{{.*}}, %{{.*}} : i64
// DEAD-NEXT: tile.require %[[ANY]], "N > 0 in `needs`"
// DEAD-NEXT: tile.return

// BOTH-LABEL: tile.graph @g(
// BOTH: tile.call @copy(
// BOTH-COUNT-2: tile.call @says(
// BOTH-COUNT-2: tile.call @column(
// BOTH-NOT: tile.call @
// BOTH: tile.return

tile.graph @g(%x: tensor<?x?xf32> {tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "a", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, tensor<?xf32> {tile.name = "b", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}, tensor<?xf32> {tile.name = "c", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}, tensor<?xf32> {tile.name = "d", tile.shape = affine_map<()[s0, s1] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %a = tile.call @copy(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %a2 = tile.call @copy_too(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = tile.call @says(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %b2 = tile.call @says(%a2) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %c1 = arith.constant 1 : i64
  %d = tile.call @column(%x) consts ["K"](%c1) : (tensor<?x?xf32>) -> tensor<?xf32>
  %one = arith.constant 1 : i64
  %e = tile.call @column(%x) consts ["K"](%one) : (tensor<?x?xf32>) -> tensor<?xf32>
  %c2 = arith.constant 2 : i64
  %f = tile.call @column(%x) consts ["K"](%c2) : (tensor<?x?xf32>) -> tensor<?xf32>
  %t = tile.call @copy(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %u = tile.call @needs(%t) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  tile.return %b, %d, %e, %f : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
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
tile.kernel @copy_too(
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
tile.kernel @needs(
    %x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"},
    %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %any = arith.cmpi sgt, %N, %c0 : i64
  tile.require %any, "N > 0"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %v = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.store %v, %y at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}
tile.kernel @says(
    %x: memref<?x?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"},
    %y: memref<?x?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %v = tile.load %x at affine_map<(d0, d1) -> (d0, d1)>(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xf32, #tile.axes<"i", "j">>
    %ok = arith.cmpf oeq, %v, %v : tensor<?x?xf32, #tile.axes<"i", "j">>
    tile.assert %ok, "no NaN" : tensor<?x?xi1, #tile.axes<"i", "j">>
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
