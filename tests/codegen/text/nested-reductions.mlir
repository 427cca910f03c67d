// RUN: tile-opt %s -split-input-file -tile-gpu-materialize-axes | FileCheck %s

// A sum of sums is one sum along both axes: what threads have is joined once.

#id2 = affine_map<(i, n) -> (i, n)>
#all = affine_map<() -> (1)>
#first = affine_map<(p) -> (p)>
// CHECK-LABEL: tile.kernel @of_one_kind(
tile.kernel @of_one_kind(
    %x: memref<16x24xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<() -> (16, 24)>},
    %s: memref<1xf32> {tile.name = "s", tile.mode = "out", tile.shape = #all}) attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c24 = arith.constant 24 : i64
  %m = tile.axis %c0 to %c16 : !tile.span<"m", 16>
  %n = tile.axis %c0 to %c24 : !tile.span<"n", 24>
  tile.parallel (%p = each "p" %c0 to %c1) {
    // CHECK: %[[T:.*]] = tile.load
    // CHECK: %[[S:.*]] = tile.reduce <add> %[[T]] over ["n", "m"]
    // CHECK-NOT: tile.reduce
    // CHECK: tile.store %[[S]]
    %t = tile.load %x at #id2(%m, %n) [] <exact> : memref<16x24xf32>, (!tile.span<"m", 16>, !tile.span<"n", 24>) -> tensor<16x24xf32, #tile.axes<"m", "n">>
    %r = tile.reduce <add> %t over ["n"] : tensor<16x24xf32, #tile.axes<"m", "n">> -> tensor<16xf32, #tile.axes<"m">>
    %q = tile.reduce <add> %r over ["m"] : tensor<16xf32, #tile.axes<"m">> -> f32
    tile.store %q, %s at #first(%p) [] : f32, memref<1xf32>, (i64)
  }
  tile.return
}

// -----

// Not so of another kind, where somebody else reads the inner one, and of types that are rounded on
// the way.

#id2 = affine_map<(i, n) -> (i, n)>
#all = affine_map<() -> (1)>
#first = affine_map<(p) -> (p)>
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: tile.kernel @apart(
tile.kernel @apart(
    %x: memref<16x24xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<() -> (16, 24)>},
    %h: memref<16x24xf16> {tile.name = "h", tile.mode = "in", tile.shape = affine_map<() -> (16, 24)>},
    %r: memref<16xf32> {tile.name = "r", tile.mode = "out", tile.shape = affine_map<() -> (16)>},
    %s: memref<1xf32> {tile.name = "s", tile.mode = "out", tile.shape = #all},
    %u: memref<1xf32> {tile.name = "u", tile.mode = "out", tile.shape = #all},
    %v: memref<1xf16> {tile.name = "v", tile.mode = "out", tile.shape = #all}) attributes {dims = []} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c24 = arith.constant 24 : i64
  %m = tile.axis %c0 to %c16 : !tile.span<"m", 16>
  %n = tile.axis %c0 to %c24 : !tile.span<"n", 24>
  tile.parallel (%p = each "p" %c0 to %c1) {
    // CHECK: tile.reduce <max> {{.*}} over ["n"]
    // CHECK: tile.reduce <add> {{.*}} over ["m"]
    // CHECK: tile.reduce <add> {{.*}} over ["n"]
    // CHECK: tile.reduce <add> {{.*}} over ["m"]
    // CHECK: tile.reduce <add> {{.*}} over ["n"]
    // CHECK: tile.reduce <add> {{.*}} over ["m"]
    %t = tile.load %x at #id2(%m, %n) [] <exact> : memref<16x24xf32>, (!tile.span<"m", 16>, !tile.span<"n", 24>) -> tensor<16x24xf32, #tile.axes<"m", "n">>
    %w = tile.load %h at #id2(%m, %n) [] <exact> : memref<16x24xf16>, (!tile.span<"m", 16>, !tile.span<"n", 24>) -> tensor<16x24xf16, #tile.axes<"m", "n">>
    %a = tile.reduce <max> %t over ["n"] : tensor<16x24xf32, #tile.axes<"m", "n">> -> tensor<16xf32, #tile.axes<"m">>
    %b = tile.reduce <add> %a over ["m"] : tensor<16xf32, #tile.axes<"m">> -> f32
    tile.store %b, %s at #first(%p) [] : f32, memref<1xf32>, (i64)
    %c = tile.reduce <add> %t over ["n"] : tensor<16x24xf32, #tile.axes<"m", "n">> -> tensor<16xf32, #tile.axes<"m">>
    tile.store %c, %r at #id(%m) [] : tensor<16xf32, #tile.axes<"m">>, memref<16xf32>, (!tile.span<"m", 16>)
    %d = tile.reduce <add> %c over ["m"] : tensor<16xf32, #tile.axes<"m">> -> f32
    tile.store %d, %u at #first(%p) [] : f32, memref<1xf32>, (i64)
    %e = tile.reduce <add> %w over ["n"] : tensor<16x24xf16, #tile.axes<"m", "n">> -> tensor<16xf16, #tile.axes<"m">>
    %f = tile.reduce <add> %e over ["m"] : tensor<16xf16, #tile.axes<"m">> -> f16
    tile.store %f, %v at #first(%p) [] : f16, memref<1xf16>, (i64)
  }
  tile.return
}
