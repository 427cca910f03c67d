// RUN: tile-opt %s -split-input-file '-tile-specialize=dims=K=70,D=7 sizes=i=4' | FileCheck %s

// Sizes come from the binding (i), the schedule (j: its first candidate) or the default (l, k);
// what follows from a bound dimension is a constant, what follows from another stays open.

#sizes = affine_map<()[m, k, d] -> (m, (k + 31) floordiv 32, d)>
// CHECK-LABEL: tile.kernel @sizes(
// CHECK-SAME: memref<?x3x7xf32>
// CHECK-SAME: schedule = {j = [12, 24]}, tile.bound = {D = 7 : i64, K = 70 : i64}
tile.kernel @sizes(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #sizes},
    %y: memref<?x?x?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #sizes})
    attributes {dims = ["M", "K", "D"], schedule = {j = [12, 24]}} {
  %c0 = arith.constant 0 : i64
  %c31 = arith.constant 31 : i64
  %c32 = arith.constant 32 : i64
  %M = tile.dim "M"
  %K = tile.dim "K"
  %D = tile.dim "D"
  %K31 = arith.addi %K, %c31 : i64
  %G = tile.div %K31, %c32 : i64
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i64
  // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i64
  // CHECK: %[[M:.*]] = tile.dim "M"
  // CHECK: tile.axis %[[C0]] to %[[C3]] : <"G", 3>
  // CHECK: tile.axis %[[C0]] to %[[M]] : <"M">
  %g = tile.axis %c0 to %G : !tile.span<"G">
  %m = tile.axis %c0 to %M : !tile.span<"M">
  // CHECK: tile.parallel (%{{.*}} = tiles "i" %[[C0]] to %[[M]] by 4, %{{.*}} = tiles "j" {{.*}} by 12, %{{.*}} = tiles "l" {{.*}} by 16, %{{.*}} = each "e" %[[C0]] to %[[C7]])
  tile.parallel (%i = tiles "i" %c0 to %M, %j = tiles "j" %c0 to %D, %l = tiles "l" %c0 to %M, %e = each "e" %c0 to %D) {
    // CHECK: -> tensor<4x3x12xf32, #tile.axes<"i", "G", "j">>
    %t = tile.load %x at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %g, %j)[] <exact> : memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"G">, !tile.span<"j">) -> tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
    // CHECK: tile.for fold %{{.*}} = "k" %[[C0]] to %{{.*}} by 64 iter_args(%{{.*}} = %{{.*}} : tensor<4x3x12xf32
    %s = tile.for fold %k = "k" %c0 to %K iter_args(%a = %t : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>) {
      // CHECK: tile.for sequential %{{.*}} = "s" {{.*}} by 5 iter_args
      %r = tile.for sequential %s = "s" %c0 to %K by 5 iter_args(%b = %a : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>) {
        // CHECK: tensor<4x3x12xf32
        %c = arith.addf %b, %t : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
        tile.yield %c : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
      }
      tile.yield %r : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
    }
    // An axis without a known bound stays open, beside one that is known.
    // CHECK: tile.broadcast {{.*}} : f32 to tensor<?x16xf32, #tile.axes<"M", "l">>
    %zero = arith.constant -0.0 : f32
    %open = tile.broadcast %zero : f32 to tensor<?x?xf32, #tile.axes<"M", "l">>
    %z = tile.reduce <add> %open over ["M", "l"] : tensor<?x?xf32, #tile.axes<"M", "l">> -> f32
    %zb = tile.broadcast %z : f32 to tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
    %u = arith.addf %s, %zb : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>
    // CHECK: tile.store {{.*}} : tensor<4x3x12xf32, {{.*}}>, memref<?x3x7xf32>, (!tile.span<"i", 4>, !tile.span<"G", 3>, !tile.span<"j", 12>)
    tile.store %u, %y at affine_map<(d0, d1, d2) -> (d0, d1, d2)>(%i, %g, %j)[] : tensor<?x?x?xf32, #tile.axes<"i", "G", "j">>, memref<?x?x?xf32>, (!tile.span<"i">, !tile.span<"G">, !tile.span<"j">)
  }
  tile.return
}

// -----

// Symbols that became constants move into index maps and conditions; a divisor that is not
// positive does not, and neither does a symbol that is still open.

#d = affine_map<()[k, d, z] -> (d)>
// CHECK-DAG: #[[ROTATE:.*]] = affine_map<(d0) -> ((d0 + 3) mod 7)>
// CHECK-DAG: #[[ZERO:.*]] = affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>
// CHECK-DAG: #[[OPEN:.*]] = affine_map<(d0)[s0] -> (d0 + s0 * 7)>
// CHECK-DAG: #[[SET:.*]] = affine_set<(d0) : (-d0 + 5 >= 0)>
// CHECK-LABEL: tile.kernel @maps
tile.kernel @maps(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #d},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "reduce", tile.reduce = #tile.combine<add>, tile.shape = #d})
    attributes {dims = ["K", "D", "Z"]} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f32
  %D = tile.dim "D"
  %Z = tile.dim "Z"
  %half = tile.div %D, %c2 : i64
  %last = arith.subi %D, %c1 : i64
  tile.parallel (%i = tiles "i" %c0 to %D) {
    // CHECK: tile.restrict #[[SET]](%{{.*}}) [] :
    tile.restrict affine_set<(d0)[s0] : (s0 - d0 - 1 >= 0)>(%i)[%last] : !tile.span<"i">
    // CHECK: tile.load %{{.*}} at #[[ROTATE]](%{{.*}}) [] <exact>
    %a = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%half, %D] <exact> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    // CHECK: tile.load %{{.*}} at #[[ZERO]](%{{.*}}) [%{{.*}}, %{{.*}}] <pad>
    %b = tile.load %x at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%half, %c0] <pad> else %zero : memref<?xf32>, (!tile.span<"i">), f32 -> tensor<?xf32, #tile.axes<"i">>
    // CHECK: tile.load %{{.*}} at #[[OPEN]](%{{.*}}) [%{{.*}}] <clamp>
    %c = tile.load %x at affine_map<(d0)[s0, s1] -> (d0 + s0 * s1)>(%i)[%Z, %D] <clamp> : memref<?xf32>, (!tile.span<"i">) -> tensor<?xf32, #tile.axes<"i">>
    %ab = arith.addf %a, %b : tensor<?xf32, #tile.axes<"i">>
    %abc = arith.addf %ab, %c : tensor<?xf32, #tile.axes<"i">>
    // CHECK: tile.update <add> %{{.*}}, %{{.*}} at #[[ROTATE]](%{{.*}}) []
    tile.update <add> %abc, %y at affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)>(%i)[%half, %D] : tensor<?xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i">)
  }
  tile.return
}

// -----

// Folding keeps the signs of zeros, NaN and infinities, and knows the language's division.

#k = affine_map<()[k, d] -> (8)>
// CHECK-LABEL: tile.kernel @folds
tile.kernel @folds(
    %x: f32 {tile.name = "x", tile.mode = "in"},
    %y: memref<8xf32> {tile.name = "y", tile.mode = "out", tile.shape = #k},
    %n: memref<8xi64> {tile.name = "n", tile.mode = "out", tile.shape = #k})
    attributes {dims = ["K", "D"]} {
  // CHECK-DAG: %[[NEGATIVE_ZERO:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK-DAG: %[[INFINITY:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[MINUS_THREE:.*]] = arith.constant -3 : i64
  // CHECK-DAG: %[[FOURTEEN:.*]] = arith.constant 14 : i64
  %c0 = arith.constant 0 : i64
  %c5 = arith.constant -5 : i64
  %c30 = arith.constant 30 : i64
  %D = tile.dim "D"
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant -1.0 : f32
  tile.parallel (%i = tiles "i" %c0 to %D) {
    %nz = arith.mulf %zero, %one : f32
    // CHECK: tile.store %[[NEGATIVE_ZERO]],
    tile.store %nz, %y at affine_map<() -> (0)>()[] : f32, memref<8xf32>, ()
    %nan = arith.divf %zero, %zero : f32
    // CHECK: tile.store %[[NAN]],
    tile.store %nan, %y at affine_map<() -> (1)>()[] : f32, memref<8xf32>, ()
    %inf = arith.divf %one, %zero : f32
    // CHECK: tile.store %[[INFINITY]],
    tile.store %inf, %y at affine_map<() -> (2)>()[] : f32, memref<8xf32>, ()
    // x + 0 is not x: x may be −0.
    // CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[ZERO]]
    // CHECK: tile.store %[[SUM]],
    %sum = arith.addf %x, %zero : f32
    tile.store %sum, %y at affine_map<() -> (3)>()[] : f32, memref<8xf32>, ()
    // x − x and x · 0 are not 0: x may be NaN.
    // CHECK: arith.subf
    // CHECK: arith.mulf
    %difference = arith.subf %x, %x : f32
    tile.store %difference, %y at affine_map<() -> (4)>()[] : f32, memref<8xf32>, ()
    %product = arith.mulf %x, %zero : f32
    tile.store %product, %y at affine_map<() -> (5)>()[] : f32, memref<8xf32>, ()
    // −5 / 7 = −1, −5 / 0 = 0, −5 % 7 = 2; 2 · 7 = 14
    %q = tile.div %c5, %D : i64
    %z = tile.div %c5, %c0 : i64
    %r = tile.rem %c5, %D : i64
    %qz = arith.addi %q, %z : i64
    %c2 = arith.constant -2 : i64
    %three = arith.addi %qz, %c2 : i64
    // CHECK: tile.store %[[MINUS_THREE]],
    tile.store %three, %n at affine_map<() -> (0)>()[] : i64, memref<8xi64>, ()
    %fourteen = arith.muli %r, %D : i64
    // CHECK: tile.store %[[FOURTEEN]],
    tile.store %fourteen, %n at affine_map<() -> (1)>()[] : i64, memref<8xi64>, ()
  }
  tile.return
}
