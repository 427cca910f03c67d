// RUN: tile-opt %s | tile-opt | FileCheck %s

// Scans and sorts in tile IR.

#shape = affine_map<()[m, n] -> (m, n)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: tile.kernel @recurrence
tile.kernel @recurrence(
    %a: memref<?x?xf32> {tile.name = "a", tile.type = "f32", tile.mode = "in", tile.shape = #shape},
    %b: memref<?x?xf32> {tile.name = "b", tile.type = "f32", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : <"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %ta = tile.load %a at #id2(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %tb = tile.load %b at #id2(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %p0 = tile.broadcast %one : f32 to tensor<?xf32, #tile.axes<"i">>
    %s0 = tile.broadcast %zero : f32 to tensor<?xf32, #tile.axes<"i">>
    // CHECK: %[[S:.*]]:4 = tile.scan "scan" (%{{.*}} : tensor<?x?xf32, #tile.axes<"i", "N">>, %{{.*}} : tensor<?x?xf32, #tile.axes<"i", "N">>)
    // CHECK-SAME: from (%{{.*}} : tensor<?xf32, #tile.axes<"i">>, %{{.*}} : tensor<?xf32, #tile.axes<"i">>) over "N" reverse {
    // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
    // CHECK: tile.combined %{{.*}}, %{{.*}} : f32, f32
    %r:4 = tile.scan "scan" (%ta : tensor<?x?xf32, #tile.axes<"i", "N">>, %tb : tensor<?x?xf32, #tile.axes<"i", "N">>)
        from (%p0 : tensor<?xf32, #tile.axes<"i">>, %s0 : tensor<?xf32, #tile.axes<"i">>) over "N" reverse {
    ^bb0(%p: f32, %s: f32, %f: f32, %g: f32):
      %q = arith.mulf %p, %f : f32
      %t = math.fma %f, %s, %g : f32
      tile.combined %q, %t : f32, f32
    }
    // CHECK: tile.store %[[S]]#1
    tile.store %r#1, %y at #id2(%i, %n)[] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}

#top = affine_map<()[m, n, k] -> (m, k)>
#all = affine_map<()[m, n, k] -> (m, n)>
// CHECK-LABEL: tile.kernel @best
tile.kernel @best(
    %x: memref<?x?xi32> {tile.name = "x", tile.type = "u32", tile.mode = "in", tile.shape = #all},
    %y: memref<?x?xi64> {tile.name = "y", tile.type = "i64", tile.mode = "out", tile.shape = #top},
    %z: memref<?x?xi32> {tile.name = "z", tile.type = "u32", tile.mode = "out", tile.shape = #all})
    attributes {dims = ["M", "N", "K"], consts = {K}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %n = tile.axis %c0 to %N : <"N">
  %k = tile.axis %c0 to %K : <"K">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %t = tile.load %x at #id2(%i, %n)[] <exact> : memref<?x?xi32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xi32, #tile.axes<"i", "N">>
    // CHECK: tile.sort descending unsigned %{{.*}} over "N" into "K" : tensor<?x?xi32, #tile.axes<"i", "N">> -> tensor<?x?xi32, #tile.axes<"i", "K">>, tensor<?x?xi64, #tile.axes<"i", "K">>
    %v, %at = tile.sort descending unsigned %t over "N" into "K" : tensor<?x?xi32, #tile.axes<"i", "N">> -> tensor<?x?xi32, #tile.axes<"i", "K">>, tensor<?x?xi64, #tile.axes<"i", "K">>
    tile.store %at, %y at #id2(%i, %k)[] : tensor<?x?xi64, #tile.axes<"i", "K">>, memref<?x?xi64>, (!tile.span<"i">, !tile.span<"K">)
    // CHECK: tile.sort unsigned %{{.*}} over "N" into "N"
    %w, %from = tile.sort unsigned %t over "N" into "N" : tensor<?x?xi32, #tile.axes<"i", "N">> -> tensor<?x?xi32, #tile.axes<"i", "N">>, tensor<?x?xi64, #tile.axes<"i", "N">>
    tile.store %w, %z at #id2(%i, %n)[] : tensor<?x?xi32, #tile.axes<"i", "N">>, memref<?x?xi32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @total
tile.kernel @total(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : <"N">
  tile.parallel (%i = tiles "i" %c0 to %M) {
    %init = tile.broadcast %zero : f32 to tensor<?xf32, #tile.axes<"i">>
    %s = tile.for reassociable %k = "k" %c0 to %N iter_args(%a = %init : tensor<?xf32, #tile.axes<"i">>) {
      // CHECK: tile.load %{{.*}} <within>
      %t = tile.load %x at #id2(%i, %k)[] <within> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf32, #tile.axes<"i", "k">>
      %p = tile.reduce <add> %t over ["k"] : tensor<?x?xf32, #tile.axes<"i", "k">> -> tensor<?xf32, #tile.axes<"i">>
      %b = arith.addf %a, %p : tensor<?xf32, #tile.axes<"i">>
      tile.yield %b : tensor<?xf32, #tile.axes<"i">>
    // CHECK: } merge {
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32, #tile.axes<"i">>, %{{.*}}: tensor<?xf32, #tile.axes<"i">>):
    } merge {
    ^bb0(%l: tensor<?xf32, #tile.axes<"i">>, %r: tensor<?xf32, #tile.axes<"i">>):
      %b = arith.addf %l, %r : tensor<?xf32, #tile.axes<"i">>
      tile.yield %b : tensor<?xf32, #tile.axes<"i">>
    }
    %t = tile.load %x at #id2(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    // CHECK: tile.take "flip" %{{.*}} at #{{.*}}(%{{.*}}, %{{.*}}) [%{{.*}}] : tensor<?x?xf32, #tile.axes<"i", "N">>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %f = tile.take "flip" %t at affine_map<(d0, d1)[s0] -> (d0, s0 - d1 - 1)>(%i, %n) [%N] : tensor<?x?xf32, #tile.axes<"i", "N">>, (!tile.span<"i">, !tile.span<"N">) -> tensor<?x?xf32, #tile.axes<"i", "N">>
    %w = tile.broadcast %s : tensor<?xf32, #tile.axes<"i">> to tensor<?x?xf32, #tile.axes<"i", "N">>
    %o = arith.mulf %f, %w : tensor<?x?xf32, #tile.axes<"i", "N">>
    tile.store %o, %y at #id2(%i, %n)[] : tensor<?x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"N">)
  }
  tile.return
}
