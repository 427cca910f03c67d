// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// ptxas makes one instruction of two maxima, and loses the sign of a negation among what they take:
// it must not see one.
// CHECK-LABEL: .entry most(
// CHECK-NOT: neg.
// CHECK: not.b32 [[NEGATED:%r[0-9]+]], %r{{[0-9]+}};
// CHECK-NEXT: add.s32 [[NEGATED]], [[NEGATED]], 1;
// CHECK-NOT: neg.
// CHECK: max.s32 [[INNER:%r[0-9]+]], {{.*}}[[NEGATED]]
// CHECK: max.s32 {{.*}}[[INNER]]
// CHECK-NOT: neg.
// CHECK: ret;
tile.kernel @most(%arg0: memref<?xi32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg2: memref<?xi32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}) attributes {dims = ["M"], schedule = {i = 32 : i64}, tile.bound = {}} {
  %c0_i64 = arith.constant 0 : i64
  %c0_i32 = arith.constant 0 : i32
  %0 = tile.dim "M"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 32) {
    %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %3 = tile.broadcast %c0_i32 : i32 to tensor<32xi32, #tile.axes<"i">>
    %4 = arith.subi %3, %1 : tensor<32xi32, #tile.axes<"i">>
    %5 = arith.maxsi %2, %4 : tensor<32xi32, #tile.axes<"i">>
    %6 = arith.maxsi %1, %5 : tensor<32xi32, #tile.axes<"i">>
    tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<32xi32, #tile.axes<"i">>, memref<?xi32>, (!tile.span<"i", 32>)
  }
  tile.return
}

// The same of one of a minimum and a sum: min(y, 3 - max(x, y)).
// CHECK-LABEL: .entry least(
// CHECK-NOT: sub.s32
// CHECK: max.s32 [[MOST:%r[0-9]+]],
// CHECK: not.b32 [[NEGATED:%r[0-9]+]], [[MOST]];
// CHECK-NEXT: add.s32 [[NEGATED]], [[NEGATED]], 1;
// CHECK-NOT: sub.s32
// CHECK: add.s32 [[DIFFERENCE:%r[0-9]+]], [[NEGATED]], 3;
// CHECK: min.s32 {{.*}}[[DIFFERENCE]]
// CHECK: ret;
tile.kernel @least(%arg0: memref<?xi32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg2: memref<?xi32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}) attributes {dims = ["M"], schedule = {i = 32 : i64}, tile.bound = {}} {
  %c0_i64 = arith.constant 0 : i64
  %c3_i32 = arith.constant 3 : i32
  %0 = tile.dim "M"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 32) {
    %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %3 = tile.broadcast %c3_i32 : i32 to tensor<32xi32, #tile.axes<"i">>
    %4 = arith.maxsi %1, %2 : tensor<32xi32, #tile.axes<"i">>
    %5 = arith.subi %3, %4 : tensor<32xi32, #tile.axes<"i">>
    %6 = arith.minsi %2, %5 : tensor<32xi32, #tile.axes<"i">>
    tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<32xi32, #tile.axes<"i">>, memref<?xi32>, (!tile.span<"i", 32>)
  }
  tile.return
}

// And of products with a negative power of two, which LLVM makes shifts and negations of: min(y, min(x, x * -4)).
// CHECK-LABEL: .entry product(
// CHECK-NOT: neg.
// CHECK: shl.b32 [[FOUR:%r[0-9]+]], {{%r[0-9]+}}, 2;
// CHECK: not.b32 [[NEGATED:%r[0-9]+]], [[FOUR]];
// CHECK-NEXT: add.s32 [[NEGATED]], [[NEGATED]], 1;
// CHECK-NOT: neg.
// CHECK: ret;
tile.kernel @product(%arg0: memref<?xi32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg1: memref<?xi32> {tile.mode = "in", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}, %arg2: memref<?xi32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "i32"}) attributes {dims = ["M"], schedule = {i = 32 : i64}, tile.bound = {}} {
  %c0_i64 = arith.constant 0 : i64
  %factor = arith.constant -4 : i32
  %0 = tile.dim "M"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 32) {
    %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %2 = tile.load %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xi32>, (!tile.span<"i", 32>) -> tensor<32xi32, #tile.axes<"i">>
    %3 = tile.broadcast %factor : i32 to tensor<32xi32, #tile.axes<"i">>
    %4 = arith.muli %1, %3 : tensor<32xi32, #tile.axes<"i">>
    %5 = arith.minsi %1, %4 : tensor<32xi32, #tile.axes<"i">>
    %6 = arith.minsi %2, %5 : tensor<32xi32, #tile.axes<"i">>
    tile.store %6, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<32xi32, #tile.axes<"i">>, memref<?xi32>, (!tile.span<"i", 32>)
  }
  tile.return
}
