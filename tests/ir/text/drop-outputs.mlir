// RUN: tile-opt %s -tile-drop-dead-outputs | FileCheck %s

// One of three outputs is read: the others aren't stored, what is computed for them alone goes, and both calls of which
// as much is read have one kernel.

#id = affine_map<(i) -> (i)>
#shape = affine_map<()[n] -> (n)>

// CHECK-LABEL: tile.kernel @three(
// CHECK: tile.kernel @[[ONE:three_[0-9]*]](
// CHECK-SAME: tile.name = "x"
// CHECK-SAME: tile.name = "b"
// CHECK-NOT: math.exp
// CHECK: arith.negf
// CHECK: tile.store
// CHECK-NOT: tile.store
// CHECK: tile.return
tile.kernel @three(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
    %a: memref<?xf32> {tile.name = "a", tile.mode = "out", tile.shape = #shape},
    %b: memref<?xf32> {tile.name = "b", tile.mode = "out", tile.shape = #shape},
    %c: memref<?xf32> {tile.name = "c", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %t = tile.load %x at #id(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> tensor<64xf32, #tile.axes<"i">>
    %e = math.exp %t : tensor<64xf32, #tile.axes<"i">>
    %n = arith.negf %t : tensor<64xf32, #tile.axes<"i">>
    tile.store %e, %a at #id(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
    tile.store %n, %b at #id(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
    tile.store %t, %c at #id(%i) [] : tensor<64xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}

// CHECK-LABEL: tile.graph @g(
// CHECK: %[[A:.*]] = tile.call @[[ONE]](
// CHECK-NEXT: %[[B:.*]] = tile.call @[[ONE]](%[[A]])
// CHECK-NEXT: %[[C:.*]]:3 = tile.call @three(%[[B]])
// CHECK-NEXT: tile.return %[[C]]#0, %[[C]]#1, %[[C]]#2
tile.graph @g(%x: tensor<?xf32> {tile.name = "x", tile.shape = #shape, tile.type = "f32"}) -> (tensor<?xf32> {tile.name = "a", tile.shape = #shape, tile.type = "f32"}, tensor<?xf32> {tile.name = "b", tile.shape = #shape, tile.type = "f32"}, tensor<?xf32> {tile.name = "c", tile.shape = #shape, tile.type = "f32"}) attributes {dims = ["N"]} {
  %0:3 = tile.call @three(%x) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %1:3 = tile.call @three(%0#1) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %2:3 = tile.call @three(%1#1) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  tile.return %2#0, %2#1, %2#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
