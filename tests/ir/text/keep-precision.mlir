// RUN: tile-opt %s -tile-inline-producers | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: tile-opt %s -tile-inline-producers=keep-precision=true | FileCheck %s --check-prefixes=CHECK,FAST

// Kernels that become one: exactly, and without rounding to the type of what is not stored.

// What is stored for others is rounded, and what becomes of it here is not. A product that is stored is no part of a
// multiply-add.
// CHECK-LABEL: tile.kernel @scaled.shifted(
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]]
// CHECK-NEXT: tile.store %[[R]]
// EXACT: %[[W:.*]] = arith.extf %[[R]]
// EXACT: arith.addf %[[W]]
// FAST-NOT: arith.extf %[[R]]
// FAST: arith.addf %[[P]]

// Of a wider type than what the consumer computes with: rounded to that.
// CHECK-LABEL: tile.kernel @wide.power(
// CHECK: %[[E:.*]] = math.exp %{{.*}} : tensor<?xf64
// EXACT-NEXT: %[[R:.*]] = arith.truncf %[[E]] : {{.*}} to tensor<?xbf16
// EXACT-NEXT: %[[W:.*]] = arith.extf %[[R]]
// FAST-NEXT: %[[W:.*]] = arith.truncf %[[E]] : {{.*}} to tensor<?xf32
// CHECK-NEXT: math.exp %[[W]] : tensor<?xf32

// Behind a sum or a maximum that is complete.
// CHECK-LABEL: tile.kernel @largest.power.power(
// CHECK: tile.finish
// CHECK: %[[E:.*]] = math.exp
// EXACT-NEXT: %[[R:.*]] = arith.truncf %[[E]]
// EXACT-NEXT: %[[W:.*]] = arith.extf %[[R]]
// EXACT-NEXT: math.exp %[[W]]
// FAST-NEXT: math.exp %[[E]]

// What is padded is wide, too.
// CHECK-LABEL: tile.kernel @power.before.power(
// CHECK: %[[E:.*]] = math.exp
// EXACT-NEXT: arith.truncf %[[E]]
// EXACT: %[[S:.*]] = arith.select {{.*}} tensor<?xbf16
// EXACT-NEXT: %[[W:.*]] = arith.extf %[[S]]
// FAST-NOT: arith.truncf
// FAST: %[[W:.*]] = arith.select %{{.*}}, %[[E]], %{{.*}} tensor<?xf32
// CHECK-NEXT: math.exp %[[W]]

// Who asks for a direction means it.
// CHECK-LABEL: tile.kernel @down.power(
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} toward_zero
// CHECK-NEXT: arith.extf %[[R]]

// Multiply-adds form across kernels, too.
// CHECK-LABEL: tile.kernel @scaled.shifted.power(
// EXACT: %[[P:.*]] = arith.mulf
// EXACT-NEXT: %[[R:.*]] = arith.truncf %[[P]]
// EXACT-NEXT: %[[W:.*]] = arith.extf %[[R]]
// EXACT: %[[A:.*]] = arith.addf %[[W]]
// EXACT-NEXT: %[[T:.*]] = arith.truncf %[[A]]
// EXACT-NEXT: %[[S:.*]] = arith.extf %[[T]]
// FAST-NOT: arith.truncf
// FAST: %[[S:.*]] = math.fma
// CHECK-NEXT: %[[E:.*]] = math.exp %[[S]]
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[E]]
// CHECK-NEXT: tile.store %[[Y]]

// Casts within a kernel, to f16 here, round in any case.
// CHECK-LABEL: tile.kernel @coarse.coarse(
// CHECK: arith.truncf %{{.*}} to tensor<?xf16
// CHECK-NEXT: arith.extf
// CHECK-NEXT: %[[T:.*]] = math.tanh
// EXACT-NEXT: arith.truncf %[[T]] : {{.*}} to tensor<?xbf16
// EXACT-NEXT: arith.extf
// CHECK-NEXT: arith.truncf %{{.*}} to tensor<?xf16
// CHECK-NEXT: arith.extf
// CHECK-NEXT: %[[E:.*]] = math.tanh
// CHECK-NEXT: arith.truncf %[[E]] : {{.*}} to tensor<?xbf16

// Factors of products stay narrow: that is what a device multiplies fast.
// CHECK-LABEL: tile.kernel @halved.product(
// CHECK: %[[P:.*]] = arith.mulf
// CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]]
// CHECK: tile.dot %[[R]]

// From f16 to bf16, which are as wide, through what holds both.
// CHECK-LABEL: tile.kernel @small.other(
// CHECK: %[[X:.*]] = tile.load
// EXACT-NEXT: %[[S:.*]] = arith.truncf %[[X]] {{.*}} to tensor<?xf8E4M3FN
// EXACT-NEXT: %[[Y:.*]] = arith.extf %[[S]] {{.*}} to tensor<?xbf16
// FAST-NEXT: %[[W:.*]] = arith.extf %[[X]] {{.*}} to tensor<?xf32
// FAST-NEXT: %[[Y:.*]] = arith.truncf %[[W]] {{.*}} to tensor<?xbf16
// CHECK-NEXT: tile.store %[[Y]]

module {
  tile.graph @chain(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: tensor<?xbf16> {tile.name = "a", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg2: tensor<?xbf16> {tile.name = "b", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @scaled(%arg0, %arg1) : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @shifted(%0, %arg2) : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
    %2 = tile.call @power(%1) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %2 : tensor<?xbf16>
  }
  tile.kernel @scaled(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg2: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %3 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %4 = arith.extf %2 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %5 = arith.mulf %3, %4 : tensor<?xf32, #tile.axes<"i">>
      %6 = arith.truncf %5 : tensor<?xf32, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.kernel @shifted(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg2: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %3 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %4 = arith.extf %2 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %5 = arith.addf %3, %4 : tensor<?xf32, #tile.axes<"i">>
      %6 = arith.truncf %5 : tensor<?xf32, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.kernel @power(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %3 = math.exp %2 : tensor<?xf32, #tile.axes<"i">>
      %4 = arith.truncf %3 : tensor<?xf32, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %4, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.graph @casts(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @coarse(%arg0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @coarse(%0) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %1 : tensor<?xbf16>
  }
  tile.kernel @coarse(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %3 = arith.truncf %2 : tensor<?xf32, #tile.axes<"i">> to tensor<?xf16, #tile.axes<"i">>
      %4 = arith.extf %3 : tensor<?xf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %5 = math.tanh %4 : tensor<?xf32, #tile.axes<"i">>
      %6 = arith.truncf %5 : tensor<?xf32, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %6, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.graph @directed(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @down(%arg0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @power(%0) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %1 : tensor<?xbf16>
  }
  tile.kernel @down(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %3 = math.exp %2 : tensor<?xf32, #tile.axes<"i">>
      %4 = arith.truncf %3 toward_zero : tensor<?xf32, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %4, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.graph @kept(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: tensor<?xbf16> {tile.name = "a", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg2: tensor<?xbf16> {tile.name = "b", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "t", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @scaled(%arg0, %arg1) {tile.values = ["t"]} : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @shifted(%0, %arg2) {tile.values = ["y"]} : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %0, %1 : tensor<?xbf16>, tensor<?xbf16>
  }
  tile.graph @padded(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @power(%arg0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @before(%0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %2 = tile.call @power(%1) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %2 : tensor<?xbf16>
  }
  tile.kernel @before(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %cst = arith.constant 0.000000e+00 : bf16
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0 - 1)>(%arg2) [] <pad> else %cst : memref<?xbf16>, (!tile.span<"i">), bf16 -> tensor<?xbf16, #tile.axes<"i">>
      tile.store %1, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.graph @products(%arg0: tensor<?x?xbf16> {tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "bf16"}, %arg1: tensor<?x?xbf16> {tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "bf16"}) -> (tensor<?x?xf32> {tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"]} {
    %0 = tile.call @halved(%arg0) : (tensor<?x?xbf16>) -> tensor<?x?xbf16>
    %1 = tile.call @product(%0, %arg1) {tile.values = ["c"]} : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
    tile.return %1 : tensor<?x?xf32>
  }
  tile.kernel @halved(%arg0: memref<?x?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "bf16"}, %arg1: memref<?x?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0, s1] -> (s0, s1)>, tile.type = "bf16"}) attributes {dims = ["M", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = tiles "j" %c0_i64_0 to %1) {
      %2 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] <exact> : memref<?x?xbf16>, (!tile.span<"i">, !tile.span<"j">) -> tensor<?x?xbf16, #tile.axes<"i", "j">>
      %3 = arith.extf %2 : tensor<?x?xbf16, #tile.axes<"i", "j">> to tensor<?x?xf32, #tile.axes<"i", "j">>
      %cst = arith.constant 3.000000e-01 : f32
      %4 = tile.broadcast %cst : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %5 = arith.mulf %3, %4 : tensor<?x?xf32, #tile.axes<"i", "j">>
      %6 = arith.truncf %5 : tensor<?x?xf32, #tile.axes<"i", "j">> to tensor<?x?xbf16, #tile.axes<"i", "j">>
      tile.store %6, %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg2, %arg3) [] : tensor<?x?xbf16, #tile.axes<"i", "j">>, memref<?x?xbf16>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }
  tile.kernel @product(%arg0: memref<?x?xbf16> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "bf16"}, %arg1: memref<?x?xbf16> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "bf16"}, %arg2: memref<?x?xf32> {tile.mode = "out", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"]} {
    %0 = tile.dim "M"
    %1 = tile.dim "N"
    %2 = tile.dim "K"
    %c0_i64 = arith.constant 0 : i64
    %3 = tile.axis %c0_i64 to %2 : <"K">
    %c0_i64_0 = arith.constant 0 : i64
    %c0_i64_1 = arith.constant 0 : i64
    tile.parallel (%arg3 = tiles "i" %c0_i64_0 to %0, %arg4 = tiles "j" %c0_i64_1 to %1) {
      %4 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %3) [] <exact> : memref<?x?xbf16>, (!tile.span<"i">, !tile.span<"K">) -> tensor<?x?xbf16, #tile.axes<"i", "K">>
      %5 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%3, %arg4) [] <exact> : memref<?x?xbf16>, (!tile.span<"K">, !tile.span<"j">) -> tensor<?x?xbf16, #tile.axes<"K", "j">>
      %cst = arith.constant 0.000000e+00 : f32
      %6 = tile.broadcast %cst : f32 to tensor<?x?xf32, #tile.axes<"i", "j">>
      %7 = tile.dot %4, %5 over "K" acc %6 : tensor<?x?xbf16, #tile.axes<"i", "K">>, tensor<?x?xbf16, #tile.axes<"K", "j">> -> tensor<?x?xf32, #tile.axes<"i", "j">>
      tile.store %7, %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg3, %arg4) [] : tensor<?x?xf32, #tile.axes<"i", "j">>, memref<?x?xf32>, (!tile.span<"i">, !tile.span<"j">)
    }
    tile.return
  }
  tile.graph @finished(%arg0: tensor<?xbf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (1)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @largest(%arg0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %1 = tile.call @power(%0) : (tensor<?xbf16>) -> tensor<?xbf16>
    %2 = tile.call @power(%1) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %2 : tensor<?xbf16>
  }
  tile.kernel @largest(%arg0: memref<?xbf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}, %arg1: memref<?xbf16> {tile.mode = "reduce", tile.name = "s", tile.reduce = #tile.combine<max>, tile.shape = affine_map<()[s0] -> (1)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    %c0_i64_0 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0, %arg3 = each "k" %c0_i64_0 to %c1_i64) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xbf16>, (!tile.span<"i">) -> tensor<?xbf16, #tile.axes<"i">>
      %2 = arith.extf %1 : tensor<?xbf16, #tile.axes<"i">> to tensor<?xf32, #tile.axes<"i">>
      %3 = tile.reduce <max> %2 over ["i"] : tensor<?xf32, #tile.axes<"i">> -> f32
      %4 = arith.truncf %3 : f32 to bf16
      tile.update <max> %4, %arg1 at affine_map<()[s0] -> (s0)>() [%arg3] : bf16, memref<?xbf16>, ()
    }
    tile.return
  }
  tile.graph @doubles(%arg0: tensor<?xf64> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f64"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @wide(%arg0) : (tensor<?xf64>) -> tensor<?xbf16>
    %1 = tile.call @power(%0) {tile.values = ["y"]} : (tensor<?xbf16>) -> tensor<?xbf16>
    tile.return %1 : tensor<?xbf16>
  }
  tile.kernel @wide(%arg0: memref<?xf64> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f64"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf64>, (!tile.span<"i">) -> tensor<?xf64, #tile.axes<"i">>
      %2 = math.exp %1 : tensor<?xf64, #tile.axes<"i">>
      %3 = arith.truncf %2 : tensor<?xf64, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %3, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.graph @formats(%arg0: tensor<?xf16> {tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f16"}) -> (tensor<?xbf16> {tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.call @small(%arg0) : (tensor<?xf16>) -> tensor<?xf8E4M3FN>
    %1 = tile.call @other(%0) {tile.values = ["y"]} : (tensor<?xf8E4M3FN>) -> tensor<?xbf16>
    tile.return %1 : tensor<?xbf16>
  }
  tile.kernel @small(%arg0: memref<?xf16> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f16"}, %arg1: memref<?xf8E4M3FN> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f8e4m3"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf16>, (!tile.span<"i">) -> tensor<?xf16, #tile.axes<"i">>
      %2 = arith.truncf %1 : tensor<?xf16, #tile.axes<"i">> to tensor<?xf8E4M3FN, #tile.axes<"i">>
      tile.store %2, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xf8E4M3FN, #tile.axes<"i">>, memref<?xf8E4M3FN>, (!tile.span<"i">)
    }
    tile.return
  }
  tile.kernel @other(%arg0: memref<?xf8E4M3FN> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f8e4m3"}, %arg1: memref<?xbf16> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "bf16"}) attributes {dims = ["N"]} {
    %0 = tile.dim "N"
    %c0_i64 = arith.constant 0 : i64
    tile.parallel (%arg2 = tiles "i" %c0_i64 to %0) {
      %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg2) [] <exact> : memref<?xf8E4M3FN>, (!tile.span<"i">) -> tensor<?xf8E4M3FN, #tile.axes<"i">>
      %2 = arith.extf %1 : tensor<?xf8E4M3FN, #tile.axes<"i">> to tensor<?xbf16, #tile.axes<"i">>
      tile.store %2, %arg1 at affine_map<(d0) -> (d0)>(%arg2) [] : tensor<?xbf16, #tile.axes<"i">>, memref<?xbf16>, (!tile.span<"i">)
    }
    tile.return
  }
}
