// RUN: tile-opt %s -canonicalize | FileCheck %s

// What folds to a constant where an extent is open becomes a scalar, broadcast where it is used.

#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: tile.kernel @zeros
tile.kernel @zeros(%x: memref<?xi8> {tile.name = "x", tile.mode = "in", tile.shape = #n},
                   %y: memref<?xi8> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i8
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  // CHECK: tile.parallel
  tile.parallel (%i = tiles "i" %c0 to %N) {
    %t = tile.load %x at #id(%i)[] <exact> : memref<?xi8>, (!tile.span<"i">) -> tensor<?xi8, #tile.axes<"i">>
    // CHECK: %[[TILE:.*]] = tile.broadcast %[[ZERO]] : i8 to tensor<?xi8, #tile.axes<"i">>
    // CHECK: tile.store %[[TILE]]
    %z = arith.xori %t, %t : tensor<?xi8, #tile.axes<"i">>
    tile.store %z, %y at #id(%i)[] : tensor<?xi8, #tile.axes<"i">>, memref<?xi8>, (!tile.span<"i">)
  }
  tile.return
}
