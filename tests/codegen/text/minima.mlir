// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// A comparison with zero that selects what it compares is no minimum: it has the zero of one side
// where the other one is a zero, too. What is compared with another number may be one.
// CHECK-LABEL: .entry signs(
// CHECK-NOT: min.f32
// CHECK: setp.lt.f32 [[LESS:%p[0-9]+]], [[X:%r[0-9]+]], 0f00000000;
// CHECK: selp.b32 {{%r[0-9]+}}, [[X]], 0, [[LESS]];
// CHECK: max.f32 {{%r[0-9]+}}, [[X]], 0f3F800000;
// CHECK: ret;
tile.kernel @signs(%arg0: memref<?xf32> {tile.mode = "in", tile.name = "x", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg1: memref<?xf32> {tile.mode = "out", tile.name = "y", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}, %arg2: memref<?xf32> {tile.mode = "out", tile.name = "z", tile.shape = affine_map<()[s0] -> (s0)>, tile.type = "f32"}) attributes {dims = ["M"], schedule = {i = 32 : i64}, tile.bound = {}} {
  %c0_i64 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = tile.dim "M"
  tile.parallel (%arg3 = tiles "i" %c0_i64 to %0 by 32) {
    %1 = tile.load %arg0 at affine_map<(d0) -> (d0)>(%arg3) [] <exact> : memref<?xf32>, (!tile.span<"i", 32>) -> tensor<32xf32, #tile.axes<"i">>
    %2 = tile.broadcast %zero : f32 to tensor<32xf32, #tile.axes<"i">>
    %3 = tile.broadcast %one : f32 to tensor<32xf32, #tile.axes<"i">>
    %4 = arith.cmpf olt, %1, %2 : tensor<32xf32, #tile.axes<"i">>
    %5 = arith.select %4, %1, %2 : tensor<32xi1, #tile.axes<"i">>, tensor<32xf32, #tile.axes<"i">>
    tile.store %5, %arg1 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<32xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 32>)
    %6 = arith.cmpf ogt, %1, %3 : tensor<32xf32, #tile.axes<"i">>
    %7 = arith.select %6, %1, %3 : tensor<32xi1, #tile.axes<"i">>, tensor<32xf32, #tile.axes<"i">>
    tile.store %7, %arg2 at affine_map<(d0) -> (d0)>(%arg3) [] : tensor<32xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 32>)
  }
  tile.return
}
