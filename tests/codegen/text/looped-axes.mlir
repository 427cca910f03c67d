// RUN: tile-opt %s -split-input-file -tile-gpu-materialize-axes | FileCheck %s
// RUN: tile-opt %s -split-input-file -tile-gpu-materialize-axes | tile-opt -split-input-file | FileCheck %s

// A row of any length: a phase for the maximum and the sum, which is rescaled as the maximum grows,
// and one that stores. The row is read twice, and what is kept of it once.

// CHECK-LABEL: tile.kernel @softmax(
// CHECK-SAME: tile_gpu.blocks = 16 : i64, tile_gpu.kept_chunks = 6 : i64, tile_gpu.warps = 16 : i64
#shape = affine_map<()[m] -> (m, 1000000)>
#id = affine_map<(i, n) -> (i, n)>
tile.kernel @softmax(
    %x: memref<?x1000000xf32> {tile.name = "x", tile.mode = "in", tile.shape = #shape},
    %y: memref<?x1000000xf32> {tile.name = "y", tile.mode = "out", tile.shape = #shape})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1000000 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 1000000>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    // CHECK: %[[LEAST:.*]] = tile.broadcast
    // CHECK: %[[ZERO:.*]] = tile.broadcast
    // CHECK: %[[BOTH:.*]]:2 = tile.for fold %[[N0:.*]] = "n@0" %{{.*}} to %{{.*}} by 131072 iter_args(%[[M:.*]] = %[[LEAST]] : tensor<1xf32, #tile.axes<"i">>, %[[S:.*]] = %[[ZERO]] : tensor<1xf32, #tile.axes<"i">>) {
    // CHECK-NEXT: %[[T:.*]] = tile.load {{.*}}(%{{.*}}, %[[N0]]) [] <exact> {tile_gpu.keep = 0 : i64} {{.*}} -> tensor<1x131072xf32, #tile.axes<"i", "n@0">>
    // CHECK-NEXT: %[[R:.*]] = tile.reduce <max> %[[T]] over ["n@0"]
    // CHECK-NEXT: %[[C:.*]] = arith.maximumf %[[M]], %[[R]]
    // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[C]]
    // CHECK-NEXT: tile.broadcast %[[SAFE]]
    // CHECK-NEXT: arith.subf %[[T]]
    // CHECK-NEXT: math.exp
    // CHECK-NEXT: %[[A:.*]] = tile.reduce <add>
    // CHECK: %[[GROWN:.*]] = arith.subf %[[M]], %[[C]]
    // CHECK-NEXT: %[[SCALE:.*]] = math.exp %[[GROWN]]
    // CHECK: %[[FACTOR:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SCALE]]
    // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[S]], %[[FACTOR]]
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SCALED]], %[[A]]
    // CHECK-NEXT: tile.yield %[[C]], %[[NEXT]]
    // CHECK: tile_gpu.rescaled = array<i64: 0, 1>
    // CHECK: %[[SUM:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BOTH]]#1
    // CHECK: tile.for fold %{{.*}} = "n@1"
    // CHECK-NEXT: tile.load {{.*}} {tile_gpu.kept = 0 : i64}
    // CHECK-NEXT: tile.broadcast %[[BOTH]]#0
    // CHECK: math.exp
    // CHECK: tile.broadcast %[[SUM]]
    // CHECK: tile.store
    // CHECK-NOT: tile.axis
    %t = tile.load %x at #id(%i, %n) [] <exact> : memref<?x1000000xf32>, (!tile.span<"i", 1>, !tile.span<"n", 1000000>) -> tensor<1x1000000xf32, #tile.axes<"i", "n">>
    %m = tile.reduce <max> %t over ["n"] : tensor<1x1000000xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %m : tensor<1xf32, #tile.axes<"i">> to tensor<1x1000000xf32, #tile.axes<"i", "n">>
    %d = arith.subf %t, %b : tensor<1x1000000xf32, #tile.axes<"i", "n">>
    %e = math.exp %d : tensor<1x1000000xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %e over ["n"] : tensor<1x1000000xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %bs = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x1000000xf32, #tile.axes<"i", "n">>
    %q = arith.divf %e, %bs : tensor<1x1000000xf32, #tile.axes<"i", "n">>
    tile.store %q, %y at #id(%i, %n) [] : tensor<1x1000000xf32, #tile.axes<"i", "n">>, memref<?x1000000xf32>, (!tile.span<"i", 1>, !tile.span<"n", 1000000>)
  }
  tile.return
}

// -----

// A length that is not known, in one block; nothing is kept. Each element has a mask, so chunks are half as long.

// CHECK-LABEL: tile.kernel @sums(
// CHECK-SAME: tile_gpu.blocks = 1 : i64, tile_gpu.kept_chunks = 0 : i64
tile.kernel @sums(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    // CHECK: %[[SUM:.*]] = tile.for fold %{{.*}} = "n@0" %{{.*}} to %{{.*}} by 1024
    // CHECK: tile.store %[[SUM]]
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"n">) -> tensor<4x?xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<4x?xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    tile.store %s, %y at affine_map<(i) -> (i)>(%i) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

// What goes along the axis otherwise, here a maximum that ignores NaN, is not cut: the row stays whole.

// CHECK-LABEL: tile.kernel @numbers(
// CHECK: tile.axis
// CHECK-NOT: tile.for
// CHECK: tile.reduce <fmax>
tile.kernel @numbers(
    %x: memref<?x70000xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 70000)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 70000 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 70000>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x70000xf32>, (!tile.span<"i", 1>, !tile.span<"n", 70000>) -> tensor<1x70000xf32, #tile.axes<"i", "n">>
    %p = tile.reduce <fmax> %t over ["n"] : tensor<1x70000xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    tile.store %p, %y at affine_map<(i) -> (i)>(%i) [] : tensor<1xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 1>)
  }
  tile.return
}

// -----

// A row that two blocks hold in their registers stays whole, too.

// CHECK-LABEL: tile.kernel @norm(
// CHECK-SAME: tile_gpu.blocks = 2 : i64, tile_gpu.prefetch = 33 : i64, tile_gpu.warps = 16 : i64
// CHECK: tile.axis
// CHECK-NOT: tile.for
tile.kernel @norm(
    %x: memref<?x65536xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 65536)>},
    %y: memref<?x65536xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 65536)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 65536 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 65536>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>) -> tensor<1x65536xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x65536xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x65536xf32, #tile.axes<"i", "n">>
    %d = arith.divf %t, %b : tensor<1x65536xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x65536xf32, #tile.axes<"i", "n">>, memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>)
  }
  tile.return
}

// -----

// What reports to the launch, as all kernels do that are watched, has one block.

// CHECK-LABEL: tile.kernel @watched(
// CHECK-SAME: tile_gpu.blocks = 1 : i64
tile.kernel @watched(
    %x: memref<?x65536xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 65536)>},
    %y: memref<?x65536xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 65536)>})
    attributes {dims = ["M"], tile_gpu.watched} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 65536 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %c1 : !tile.span<"n", 65536>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>) -> tensor<1x65536xf32, #tile.axes<"i", "n">>
    %s = tile.reduce <add> %t over ["n"] : tensor<1x65536xf32, #tile.axes<"i", "n">> -> tensor<1xf32, #tile.axes<"i">>
    %b = tile.broadcast %s : tensor<1xf32, #tile.axes<"i">> to tensor<1x65536xf32, #tile.axes<"i", "n">>
    %d = arith.divf %t, %b : tensor<1x65536xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x65536xf32, #tile.axes<"i", "n">>, memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"n", 65536>)
  }
  tile.return
}

// -----

// Prints stay in their order, and what follows an assertion stays behind it: the sum could be had
// in the loop of the maximum, but the assertion promises what it may read.

// CHECK-LABEL: tile.kernel @spoken(
// CHECK: %[[MAX:.*]] = tile.for fold %{{.*}} = "n@0"
// CHECK-NOT: tile.reduce <add>
// CHECK: tile.print ["most ", ""](%[[MAX]])
// CHECK: tile.print ["row ", ""]
// CHECK: tile.assert
// CHECK: tile.for fold %{{.*}} = "n@1"
// CHECK: tile.reduce <add>
tile.kernel @spoken(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %n = tile.axis %c0 to %N : !tile.span<"n">
  tile.parallel (%i = tiles "i" %c0 to %M by 4) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"n">) -> tensor<4x?xf32, #tile.axes<"i", "n">>
    %m = tile.reduce <max> %t over ["n"] : tensor<4x?xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    tile.print ["most ", ""](%m) ["f32"] : (tensor<4xf32, #tile.axes<"i">>)
    %r = tile.coords %i : !tile.span<"i", 4> -> tensor<4xi64, #tile.axes<"i">>
    tile.print ["row ", ""](%r) ["i64"] : (tensor<4xi64, #tile.axes<"i">>)
    %b = tile.broadcast %M : i64 to tensor<4xi64, #tile.axes<"i">>
    %h = arith.cmpi slt, %r, %b : tensor<4xi64, #tile.axes<"i">>
    tile.assert %h, "below" : tensor<4xi1, #tile.axes<"i">>
    %s = tile.reduce <add> %t over ["n"] : tensor<4x?xf32, #tile.axes<"i", "n">> -> tensor<4xf32, #tile.axes<"i">>
    tile.store %s, %y at affine_map<(i) -> (i)>(%i) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

// A length that is not known, but limited: the axis stays whole, with room for the longest.

// CHECK-LABEL: tile.kernel @limited(
// CHECK-SAME: tile_gpu.blocks = 1 : i64
// CHECK: %[[N:.*]] = tile.dim "n"
// CHECK: tile.axis %{{.*}} to %[[N]] : <"c", 1024>
// CHECK: tile.load {{.*}} -> tensor<4x1024xf32
// CHECK-NOT: tile.for
tile.kernel @limited(
    %x: memref<?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["m", "n"], tile.limits = {n = 1024}} {
  %c0 = arith.constant 0 : i64
  %m = tile.dim "m"
  %n = tile.dim "n"
  %c = tile.axis %c0 to %n : !tile.span<"c">
  tile.parallel (%i = tiles "i" %c0 to %m by 4) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %c) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 4>, !tile.span<"c">) -> tensor<4x?xf32, #tile.axes<"i", "c">>
    %s = tile.reduce <add> %t over ["c"] : tensor<4x?xf32, #tile.axes<"i", "c">> -> tensor<4xf32, #tile.axes<"i">>
    tile.store %s, %y at affine_map<(i) -> (i)>(%i) [] : tensor<4xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 4>)
  }
  tile.return
}

// -----

// No reduction keeps all of the axis in registers, but it is far too long to pass through them at
// once: one loop, which stores.

// CHECK-LABEL: tile.kernel @long(
// CHECK-NOT: tile.axis
// CHECK: tile.for{{.*}}"n@0"
// CHECK: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.for
tile.kernel @long(
    %x: memref<?x5000000xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 5000000)>},
    %y: memref<?x5000000xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 5000000)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %N = arith.constant 5000000 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %N : !tile.span<"n", 5000000>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x5000000xf32>, (!tile.span<"i", 1>, !tile.span<"n", 5000000>) -> tensor<1x5000000xf32, #tile.axes<"i", "n">>
    %d = arith.addf %t, %t : tensor<1x5000000xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x5000000xf32, #tile.axes<"i", "n">>, memref<?x5000000xf32>, (!tile.span<"i", 1>, !tile.span<"n", 5000000>)
  }
  tile.return
}

// -----

// Nothing is held, and 64 elements a thread would make long code.

// CHECK-LABEL: tile.kernel @passing(
// CHECK-NOT: tile.axis
// CHECK: tile.for{{.*}}"n@0"
// CHECK: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.for
tile.kernel @passing(
    %x: memref<?x16384xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m] -> (m, 16384)>},
    %y: memref<?x16384xf32> {tile.name = "y", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, 16384)>})
    attributes {dims = ["M"]} {
  %c0 = arith.constant 0 : i64
  %N = arith.constant 16384 : i64
  %M = tile.dim "M"
  %n = tile.axis %c0 to %N : !tile.span<"n", 16384>
  tile.parallel (%i = tiles "i" %c0 to %M by 1) {
    %t = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x16384xf32>, (!tile.span<"i", 1>, !tile.span<"n", 16384>) -> tensor<1x16384xf32, #tile.axes<"i", "n">>
    %d = arith.addf %t, %t : tensor<1x16384xf32, #tile.axes<"i", "n">>
    tile.store %d, %y at affine_map<(i, n) -> (i, n)>(%i, %n) [] : tensor<1x16384xf32, #tile.axes<"i", "n">>, memref<?x16384xf32>, (!tile.span<"i", 1>, !tile.span<"n", 16384>)
  }
  tile.return
}

// -----

// Contractions of a whole axis, and what they need, are a loop of their own, whatever its length. A
// row of a block has 128 bytes.

// CHECK-LABEL: tile.kernel @gated(
// CHECK: %[[K:.*]] = tile.dim "K"
// CHECK-NOT: tile.axis
// CHECK: tile.parallel (%[[I:.*]] = tiles "i" {{.*}}, %[[J:.*]] = tiles "j"
// CHECK: %[[ZERO:.*]] = tile.broadcast
// CHECK: %[[SUMS:.*]]:2 = tile.for fold %[[KK:.*]] = "K@0" %{{.*}} to %[[K]] by 64 iter_args(%[[G:.*]] = %[[ZERO]] : {{.*}}, %[[H:.*]] = %[[ZERO]] : {{.*}}) {
// CHECK-NEXT: %[[X:.*]] = tile.load %arg0 at {{.*}}(%[[I]], %[[KK]]) [] <exact> {{.*}} -> tensor<64x64xbf16, #tile.axes<"i", "K@0">>
// CHECK-NEXT: %[[W:.*]] = tile.load %arg1 at {{.*}}(%[[KK]], %[[J]])
// CHECK-NEXT: %[[G1:.*]] = tile.dot %[[X]], %[[W]] over "K@0" acc %[[G]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[X]]
// CHECK-NEXT: %[[H1:.*]] = tile.dot %[[N]], %[[W]] over "K@0" acc %[[H]]
// CHECK-NEXT: tile.yield %[[G1]], %[[H1]]
// CHECK: arith.mulf %[[SUMS]]#0, %[[SUMS]]#1
#a = affine_map<()[m, n, k] -> (m, k)>
#b = affine_map<()[m, n, k] -> (k, n)>
#c = affine_map<()[m, n, k] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
!acc = tensor<64x32xf32, #tile.axes<"i", "j">>
tile.kernel @gated(
    %x: memref<?x?xbf16> {tile.name = "x", tile.mode = "in", tile.shape = #a},
    %w: memref<?x?xbf16> {tile.name = "w", tile.mode = "in", tile.shape = #b},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #c})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %k = tile.axis %c0 to %K : !tile.span<"K">
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 32) {
    %none = tile.broadcast %zero : f32 to !acc
    %t = tile.load %x at #id(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 64>, !tile.span<"K">) -> tensor<64x?xbf16, #tile.axes<"i", "K">>
    %u = tile.load %w at #id(%k, %j) [] <exact> : memref<?x?xbf16>, (!tile.span<"K">, !tile.span<"j", 32>) -> tensor<?x32xbf16, #tile.axes<"K", "j">>
    %g = tile.dot %t, %u over "K" acc %none : tensor<64x?xbf16, #tile.axes<"i", "K">>, tensor<?x32xbf16, #tile.axes<"K", "j">> -> !acc
    %v = arith.negf %t : tensor<64x?xbf16, #tile.axes<"i", "K">>
    %h = tile.dot %v, %u over "K" acc %none : tensor<64x?xbf16, #tile.axes<"i", "K">>, tensor<?x32xbf16, #tile.axes<"K", "j">> -> !acc
    %s = arith.mulf %g, %h : !acc
    tile.store %s, %y at #id(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 32>)
  }
  tile.return
}

// -----

// What a contraction is added to comes behind its loop, and what adds to its sums is in the loop.

// CHECK-LABEL: tile.kernel @added(
// CHECK: %[[ZERO:.*]] = tile.broadcast %{{.*}} : f32
// CHECK: %[[SUM:.*]] = tile.for fold %[[KK:.*]] = "K@0" {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]
// CHECK: %[[FIRST:.*]] = tile.dot %[[X:.*]], %[[W:.*]] over "K@0" acc %[[ACC]]
// CHECK: %[[LAST:.*]] = tile.dot %{{.*}}, %[[W]] over "K@0" acc %[[FIRST]]
// CHECK: tile.yield %[[LAST]]
// CHECK: %[[ALL:.*]] = arith.addf %{{.*}}, %[[SUM]]
// CHECK: tile.store %[[ALL]]
// CHECK-NOT: tile.dot
#a = affine_map<()[m, n, k] -> (m, k)>
#b = affine_map<()[m, n, k] -> (k, n)>
#c = affine_map<()[m, n, k] -> (m, n)>
#id = affine_map<(i, n) -> (i, n)>
!acc = tensor<64x32xf32, #tile.axes<"i", "j">>
tile.kernel @added(
    %x: memref<?x?xbf16> {tile.name = "x", tile.mode = "in", tile.shape = #a},
    %w: memref<?x?xbf16> {tile.name = "w", tile.mode = "in", tile.shape = #b},
    %r: memref<?x?xf32> {tile.name = "r", tile.mode = "in", tile.shape = #c},
    %y: memref<?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #c})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %k = tile.axis %c0 to %K : !tile.span<"K">
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 32) {
    %more = tile.load %r at #id(%i, %j) [] <exact> : memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 32>) -> !acc
    %t = tile.load %x at #id(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 64>, !tile.span<"K">) -> tensor<64x?xbf16, #tile.axes<"i", "K">>
    %u = tile.load %w at #id(%k, %j) [] <exact> : memref<?x?xbf16>, (!tile.span<"K">, !tile.span<"j", 32>) -> tensor<?x32xbf16, #tile.axes<"K", "j">>
    %g = tile.dot %t, %u over "K" acc %more : tensor<64x?xbf16, #tile.axes<"i", "K">>, tensor<?x32xbf16, #tile.axes<"K", "j">> -> !acc
    %v = arith.negf %t : tensor<64x?xbf16, #tile.axes<"i", "K">>
    %h = tile.dot %v, %u over "K" acc %g : tensor<64x?xbf16, #tile.axes<"i", "K">>, tensor<?x32xbf16, #tile.axes<"K", "j">> -> !acc
    %dead = tile.dot %t, %u over "K" acc %more : tensor<64x?xbf16, #tile.axes<"i", "K">>, tensor<?x32xbf16, #tile.axes<"K", "j">> -> !acc
    tile.store %h, %y at #id(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 32>)
  }
  tile.return
}

// -----

// A scan in reverse, whose states take a function to join, is carried from the last chunk to the
// first. Chunks, and so the code, are as long for any row.

// CHECK-LABEL: tile.kernel @from_the_end
// CHECK: tile.for fold %{{.*}} = "T@0" %{{.*}} to %{{.*}} by 1024 iter_args(
// CHECK: tile.scan "scan" {{.*}} over "T@0" reverse
// CHECK: tile.decreasing
// CHECK-NOT: tile.for
tile.kernel @from_the_end(%arg0: memref<?x4096xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x4096xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "T"], tile.bound = {T = 4096 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 1.000000e+00 : f32
  %cst_1 = arith.constant 0xFF800000 : f32
  %c0_i64 = arith.constant 0 : i64
  %c4096_i64 = arith.constant 4096 : i64
  %0 = tile.dim "M"
  %1 = tile.axis %c0_i64 to %c4096_i64 : <"T", 4096>
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 1) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] <exact> : memref<?x4096xf32>, (!tile.span<"i", 1>, !tile.span<"T", 4096>) -> tensor<1x4096xf32, #tile.axes<"i", "T">>
    %3 = tile.broadcast %cst_1 : f32 to tensor<1xf32, #tile.axes<"i">>
    %4 = tile.broadcast %cst_0 : f32 to tensor<1x4096xf32, #tile.axes<"i", "T">>
    %5 = tile.broadcast %cst : f32 to tensor<1xf32, #tile.axes<"i">>
    %6:4 = tile.scan "scan" (%2 : tensor<1x4096xf32, #tile.axes<"i", "T">>, %4 : tensor<1x4096xf32, #tile.axes<"i", "T">>) from (%3 : tensor<1xf32, #tile.axes<"i">>, %5 : tensor<1xf32, #tile.axes<"i">>) over "T" reverse {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32):
      %9 = arith.maximumf %arg3, %arg5 : f32
      %10 = arith.subf %arg3, %9 : f32
      %11 = math.exp %10 : f32
      %12 = arith.cmpf oeq, %arg3, %cst_1 : f32
      %13 = arith.select %12, %cst, %11 : f32
      %14 = arith.subf %arg5, %9 : f32
      %15 = math.exp %14 : f32
      %16 = arith.cmpf oeq, %arg5, %cst_1 : f32
      %17 = arith.select %16, %cst, %15 : f32
      %18 = arith.mulf %arg6, %17 : f32
      %19 = math.fma %arg4, %13, %18 : f32
      tile.combined %9, %19 : f32, f32
    }
    %7 = math.log %6#1 : tensor<1x4096xf32, #tile.axes<"i", "T">>
    %8 = arith.addf %6#0, %7 : tensor<1x4096xf32, #tile.axes<"i", "T">>
    tile.store %8, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] : tensor<1x4096xf32, #tile.axes<"i", "T">>, memref<?x4096xf32>, (!tile.span<"i", 1>, !tile.span<"T", 4096>)
  }
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @from_the_end
// CHECK: tile.for fold %{{.*}} = "T@0" %{{.*}} to %{{.*}} by 1024 iter_args(
// CHECK: tile.scan "scan" {{.*}} over "T@0" reverse
// CHECK: tile.decreasing
// CHECK-NOT: tile.for
tile.kernel @from_the_end(%arg0: memref<?x32768xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<?x32768xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "T"], tile.bound = {T = 32768 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 1.000000e+00 : f32
  %cst_1 = arith.constant 0xFF800000 : f32
  %c0_i64 = arith.constant 0 : i64
  %c32768_i64 = arith.constant 32768 : i64
  %0 = tile.dim "M"
  %1 = tile.axis %c0_i64 to %c32768_i64 : <"T", 32768>
  tile.parallel (%arg2 = tiles "i" %c0_i64 to %0 by 1) {
    %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] <exact> : memref<?x32768xf32>, (!tile.span<"i", 1>, !tile.span<"T", 32768>) -> tensor<1x32768xf32, #tile.axes<"i", "T">>
    %3 = tile.broadcast %cst_1 : f32 to tensor<1xf32, #tile.axes<"i">>
    %4 = tile.broadcast %cst_0 : f32 to tensor<1x32768xf32, #tile.axes<"i", "T">>
    %5 = tile.broadcast %cst : f32 to tensor<1xf32, #tile.axes<"i">>
    %6:4 = tile.scan "scan" (%2 : tensor<1x32768xf32, #tile.axes<"i", "T">>, %4 : tensor<1x32768xf32, #tile.axes<"i", "T">>) from (%3 : tensor<1xf32, #tile.axes<"i">>, %5 : tensor<1xf32, #tile.axes<"i">>) over "T" reverse {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32):
      %9 = arith.maximumf %arg3, %arg5 : f32
      %10 = arith.subf %arg3, %9 : f32
      %11 = math.exp %10 : f32
      %12 = arith.cmpf oeq, %arg3, %cst_1 : f32
      %13 = arith.select %12, %cst, %11 : f32
      %14 = arith.subf %arg5, %9 : f32
      %15 = math.exp %14 : f32
      %16 = arith.cmpf oeq, %arg5, %cst_1 : f32
      %17 = arith.select %16, %cst, %15 : f32
      %18 = arith.mulf %arg6, %17 : f32
      %19 = math.fma %arg4, %13, %18 : f32
      tile.combined %9, %19 : f32, f32
    }
    %7 = math.log %6#1 : tensor<1x32768xf32, #tile.axes<"i", "T">>
    %8 = arith.addf %6#0, %7 : tensor<1x32768xf32, #tile.axes<"i", "T">>
    tile.store %8, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %1) [] : tensor<1x32768xf32, #tile.axes<"i", "T">>, memref<?x32768xf32>, (!tile.span<"i", 1>, !tile.span<"T", 32768>)
  }
  tile.return
}

// -----

// The first of the greatest elements: its place and what is there are carried, and one that is no
// greater does not take its place.
// CHECK-LABEL: tile.kernel @best
// CHECK: %[[SEARCH:.*]]:2 = tile.for fold %{{.*}} = "N@0" %{{.*}} to %{{.*}} by 8192 iter_args(%[[PLACE:.*]] = %{{.*}} : tensor<1xi64, {{.*}}>, %[[BEST:.*]] = %{{.*}} : tensor<1xf32, {{.*}}>)
// CHECK: %[[AT:.*]] = tile.arg_reduce <max> %[[CHUNK:.*]] over "N@0"
// CHECK: %[[NUMBER:.*]] = tile.reduce <max> %[[CHUNK]] over ["N@0"]
// CHECK: arith.cmpf ugt, %[[NUMBER]], %[[BEST]]
// CHECK: arith.select %{{.*}}, %[[AT]], %[[PLACE]] :
// CHECK: tile.store %[[SEARCH]]#0
tile.kernel @best(%x: memref<?x65536xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[m, n] -> (m, n)>, tile.type = "f32"}, %at: memref<?xi64> {tile.mode = "out", tile.name = "at", tile.shape = affine_map<()[m, n] -> (m)>, tile.type = "i64"}) attributes {dims = ["M", "N"], tile.bound = {N = 65536 : i64}} {
  %c0 = arith.constant 0 : i64
  %length = arith.constant 65536 : i64
  %m = tile.dim "M"
  %n = tile.axis %c0 to %length : <"N", 65536>
  tile.parallel (%i = tiles "i" %c0 to %m by 1) {
    %row = tile.load %x at affine_map<(i, n) -> (i, n)>(%i, %n) [] <exact> : memref<?x65536xf32>, (!tile.span<"i", 1>, !tile.span<"N", 65536>) -> tensor<1x65536xf32, #tile.axes<"i", "N">>
    %best = tile.arg_reduce <max> %row over "N" : tensor<1x65536xf32, #tile.axes<"i", "N">> -> tensor<1xi64, #tile.axes<"i">>
    tile.store %best, %at at affine_map<(i) -> (i)>(%i) [] : tensor<1xi64, #tile.axes<"i">>, memref<?xi64>, (!tile.span<"i", 1>)
  }
  tile.return
}
