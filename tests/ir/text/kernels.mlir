// RUN: tile-opt %s | tile-opt | FileCheck %s

// The shape of kernels in tile IR, as templates: dimensions and tile sizes open.

#shape_mk = affine_map<()[m, k, n] -> (m, k)>
#shape_kn = affine_map<()[m, k, n] -> (k, n)>
#shape_mn = affine_map<()[m, k, n] -> (m, n)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: tile.kernel @matmul
tile.kernel @matmul(
    %a: memref<?x?xf16> {tile.name = "a", tile.type = "f16", tile.mode = "in", tile.shape = #shape_mk},
    %b: memref<?x?xf16> {tile.name = "b", tile.type = "f16", tile.mode = "in", tile.shape = #shape_kn},
    %c: memref<?x?xf16> {tile.name = "c", tile.type = "f16", tile.mode = "out", tile.shape = #shape_mn})
    attributes {dims = ["M", "K", "N"], schedule = {i = [64, 128], j = [64, 128, 256], k = 64}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  // CHECK: tile.parallel (%[[I:.*]] = tiles "i" %{{.*}} to %{{.*}}, %[[J:.*]] = tiles "j" %{{.*}} to %{{.*}}) {
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %N) {
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
    // CHECK: tile.for fold %{{.*}} = "k" %{{.*}} to %{{.*}} iter_args(
    %acc = tile.for fold %k = "k" %c0 to %K iter_args(%sum = %init : tensor<?x?xf32, #tile.axes<"i", "j">>) {
      // CHECK: tile.load %{{.*}} at #{{.*}}(%[[I]], %{{.*}}) [] <exact>
      %ta = tile.load %a at #id2(%i, %k)[] <exact> : memref<?x?xf16>, (!tile.span<"i">, !tile.span<"k">) -> tensor<?x?xf16, #tile.axes<"i", "k">>
      %tb = tile.load %b at #id2(%k, %j)[] <exact> : memref<?x?xf16>, (!tile.span<"k">, !tile.span<"j">) -> tensor<?x?xf16, #tile.axes<"k", "j">>
      %s = tile.dot %ta, %tb over "k" acc %sum : tensor<?x?xf16, #tile.axes<"i", "k">>, tensor<?x?xf16, #tile.axes<"k", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.yield %s : tensor<?x?xf32, #tile.axes<"i", "j">>
    }
    %r = arith.truncf %acc : tensor<?x?xf32, #tile.axes<"i", "j">> to tensor<?x?xf16, #tile.axes<"i", "j">>
    tile.store %r, %c at #id2(%i, %j)[] : tensor<?x?xf16, #tile.axes<"i", "j">>, memref<?x?xf16>, (!tile.span<"i">, !tile.span<"j">)
  }
  tile.return
}

#vec = affine_map<()[m, n] -> (m, n)>
// CHECK-LABEL: tile.kernel @softmax
tile.kernel @softmax(
    %x: memref<?x?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = #vec},
    %y: memref<?x?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = #vec})
    attributes {dims = ["M", "N"], schedule = {i = [1, 2, 4, 8]}} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  // CHECK: %[[AXIS:.*]] = tile.axis %{{.*}} to %{{.*}} : <"N">
  %n = tile.axis %c0 to %N : !tile.span<"N">
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %t = tile.load %x at #id2(%i, %n)[] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"N">) -> tensor<4x?xf32, #tile.axes<"i", "N">>
    // CHECK: tile.reduce <max> %{{.*}} over ["N"] : tensor<4x?xf32, #tile.axes<"i", "N">> -> tensor<4xf32, #tile.axes<"i">>
    %m = tile.reduce <max> %t over ["N"] : tensor<4x?xf32, #tile.axes<"i", "N">> -> tensor<4xf32, #tile.axes<"i">>
    %mb = tile.broadcast %m : tensor<4xf32, #tile.axes<"i">> to tensor<4x?xf32, #tile.axes<"i", "N">>
    %d = arith.subf %t, %mb : tensor<4x?xf32, #tile.axes<"i", "N">>
    %e = math.exp %d : tensor<4x?xf32, #tile.axes<"i", "N">>
    %s = tile.reduce <add> %e over ["N"] : tensor<4x?xf32, #tile.axes<"i", "N">> -> tensor<4xf32, #tile.axes<"i">>
    %sb = tile.broadcast %s : tensor<4xf32, #tile.axes<"i">> to tensor<4x?xf32, #tile.axes<"i", "N">>
    %q = arith.divf %e, %sb : tensor<4x?xf32, #tile.axes<"i", "N">>
    tile.store %q, %y at #id2(%i, %n)[] : tensor<4x?xf32, #tile.axes<"i", "N">>, memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"N">)
  }
  tile.return
}

#one = affine_map<()[n, h] -> (n)>
#tbl = affine_map<()[n, h] -> (h)>
#id1 = affine_map<(d0) -> (d0)>
// A window with padding, a gather, a condition, and a reduce output.
// CHECK-LABEL: tile.kernel @odds
tile.kernel @odds(
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = #one},
    %ids: memref<?xi32> {tile.name = "ids", tile.type = "i32", tile.mode = "in", tile.shape = #one},
    %w: memref<?xf32> {tile.name = "w", tile.type = "f32", tile.mode = "in", tile.shape = #tbl},
    %flag: i1 {tile.name = "flag", tile.type = "bool", tile.mode = "in"},
    %g: memref<?xf32> {tile.name = "g", tile.type = "f32", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #tbl})
    attributes {dims = ["N", "H"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %c3 = arith.constant 3 : i64
  %pad = arith.constant 0.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %N by 5) {
    %r = tile.axis %c0 to %c3 : !tile.span<"r", 3>
    // CHECK: tile.restrict #{{.*}}(%{{.*}}, %{{.*}}) [%{{.*}}] unless %{{.*}} : !tile.span<"r", 3>, !tile.span<"i", 5>
    tile.restrict affine_set<(d0, d1)[s0] : (d0 + d1 - s0 >= 0)>(%r, %i)[%c3] unless %flag : !tile.span<"r", 3>, !tile.span<"i", 5>
    // CHECK: <pad> else %{{.*}} :
    %v = tile.load %x at affine_map<(d0, d1) -> (d0 + d1 - 1)>(%i, %r)[] <pad> else %pad : memref<?xf32>, (!tile.span<"i", 5>, !tile.span<"r", 3>), f32 -> tensor<5x3xf32, #tile.axes<"i", "r">>
    %id = tile.load %ids at #id1(%i)[] <exact> : memref<?xi32>, (!tile.span<"i", 5>) -> tensor<5xi32, #tile.axes<"i">>
    %e = tile.load %w at #id1(%id)[] <clamp> : memref<?xf32>, (tensor<5xi32, #tile.axes<"i">>) -> tensor<5xf32, #tile.axes<"i">>
    %sum = tile.reduce <add> %v over ["r"] : tensor<5x3xf32, #tile.axes<"i", "r">> -> tensor<5xf32, #tile.axes<"i">>
    %p = arith.mulf %sum, %e : tensor<5xf32, #tile.axes<"i">>
    // CHECK: tile.update <add>
    tile.update <add> %p, %g at #id1(%id)[] : tensor<5xf32, #tile.axes<"i">>, memref<?xf32>, (tensor<5xi32, #tile.axes<"i">>)
  }
  tile.return
}

// CHECK-LABEL: tile.graph @two
tile.graph @two(%x: tensor<?x?xf32> {tile.name = "x", tile.type = "f32"}) -> (tensor<?x?xf32> {tile.name = "y", tile.type = "f32"}) attributes {dims = ["M", "N"]} {
  %h = tile.call @softmax(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = tile.call @softmax(%h) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  tile.return %y : tensor<?x?xf32>
}

#line = affine_map<()[n] -> (n)>
// Random bits, rounding to tf32 and toward zero.
// CHECK-LABEL: tile.kernel @numbers
tile.kernel @numbers(%x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #line},
                     %b: memref<?xi32> {tile.name = "b", tile.mode = "out", tile.shape = #line},
                     %y: memref<?xf8E4M3FN> {tile.name = "y", tile.mode = "out", tile.shape = #line}) attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 8) {
    %v = tile.load %x at #id1(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 8>) -> tensor<8xf32, #tile.axes<"i">>
    // CHECK: tile.round_tf32 %{{.*}} : tensor<8xf32, #{{.*}}>
    %t = tile.round_tf32 %v : tensor<8xf32, #tile.axes<"i">>
    // CHECK: arith.truncf %{{.*}} toward_zero
    %n = arith.truncf %t toward_zero : tensor<8xf32, #tile.axes<"i">> to tensor<8xf8E4M3FN, #tile.axes<"i">>
    %k = tile.coords %i : !tile.span<"i", 8> -> tensor<8xi64, #tile.axes<"i">>
    // CHECK: tile.philox <second> %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xi64, #{{.*}}> -> tensor<8xi32, #{{.*}}>
    %r = tile.philox <second> %k, %k, %k : tensor<8xi64, #tile.axes<"i">> -> tensor<8xi32, #tile.axes<"i">>
    tile.store %r, %b at #id1(%i)[] : tensor<8xi32, #tile.axes<"i">>, memref<?xi32>, (!tile.span<"i", 8>)
    tile.store %n, %y at #id1(%i)[] : tensor<8xf8E4M3FN, #tile.axes<"i">>, memref<?xf8E4M3FN>, (!tile.span<"i", 8>)
  }
  tile.return
}
