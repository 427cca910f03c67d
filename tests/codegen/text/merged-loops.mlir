// RUN: tile-opt %s -split-input-file -tile-gpu-materialize-axes | FileCheck %s

// Loops of one turn that go through the same, where neither waits for the other, are one: what both read is read once.

// CHECK-LABEL: tile.kernel @products(
// CHECK: %[[BOTH:.*]]:2 = tile.for fold %[[K:.*]] = "k" %{{.*}} to %{{.*}} by 16 iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}) {
// CHECK-NEXT: %[[A:.*]] = tile.load %arg0
// CHECK-NEXT: %[[C:.*]] = tile.load %arg2
// CHECK-NEXT: %[[P:.*]] = tile.dot %[[A]], %[[C]] over "k" acc %[[X]]
// CHECK-NEXT: %[[B:.*]] = tile.load %arg1 {{.*}} -> tensor<4x16xf32, #tile.axes<"i", "k">>
// CHECK-NEXT: %[[Q:.*]] = tile.dot %[[B]], %[[C]] over "k" acc %[[Y]]
// CHECK-NEXT: tile.yield %[[P]], %[[Q]]
// CHECK: tile.store %[[BOTH]]#0
// CHECK: tile.store %[[BOTH]]#1
// CHECK-NOT: tile.for
tile.kernel @products(%arg0: memref<4x16xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4x16xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<16x256xf32> {tile.mode = "in", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg3: memref<4x256xf32> {tile.mode = "out", tile.name = "p", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}, %arg4: memref<4x256xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 4 : i64, j = 64 : i64, k = 16 : i64, l = 16 : i64}, tile.bound = {K = 16 : i64, M = 4 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i64 = arith.constant 4 : i64
  %c256_i64 = arith.constant 256 : i64
  %c16_i64 = arith.constant 16 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg5 = tiles "i" %c0_i64 to %c4_i64 by 4, %arg6 = tiles "j" %c0_i64 to %c256_i64 by 64) {
    %0 = tile.broadcast %cst : f32 to tensor<4x64xf32, #tile.axes<"i", "j">>
    %1 = tile.for fold %arg7 = "k" %c0_i64 to %c16_i64 by 16 iter_args(%arg8 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"k", 16>) -> tensor<4x16xf32, #tile.axes<"i", "k">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<16x256xf32>, (!tile.span<"k", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"k", "j">>
      %5 = tile.dot %3, %4 over "k" acc %arg8 : tensor<4x16xf32, #tile.axes<"i", "k">>, tensor<16x64xf32, #tile.axes<"k", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %1, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
    %2 = tile.for fold %arg7 = "l" %c0_i64 to %c16_i64 by 16 iter_args(%arg8 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"l", 16>) -> tensor<4x16xf32, #tile.axes<"i", "l">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<16x256xf32>, (!tile.span<"l", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"l", "j">>
      %5 = tile.dot %3, %4 over "l" acc %arg8 : tensor<4x16xf32, #tile.axes<"i", "l">>, tensor<16x64xf32, #tile.axes<"l", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %2, %arg4 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// The second one adds to what the first one has.

// CHECK-LABEL: tile.kernel @chained(
// CHECK: tile.for fold %{{.*}} = "k"
// CHECK: tile.for fold %{{.*}} = "l"
tile.kernel @chained(%arg0: memref<4x16xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4x16xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<16x256xf32> {tile.mode = "in", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg3: memref<4x256xf32> {tile.mode = "out", tile.name = "p", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 4 : i64, j = 64 : i64, k = 16 : i64, l = 16 : i64}, tile.bound = {K = 16 : i64, M = 4 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i64 = arith.constant 4 : i64
  %c256_i64 = arith.constant 256 : i64
  %c16_i64 = arith.constant 16 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg4 = tiles "i" %c0_i64 to %c4_i64 by 4, %arg5 = tiles "j" %c0_i64 to %c256_i64 by 64) {
    %0 = tile.broadcast %cst : f32 to tensor<4x64xf32, #tile.axes<"i", "j">>
    %1 = tile.for fold %arg6 = "k" %c0_i64 to %c16_i64 by 16 iter_args(%arg7 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg6) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"k", 16>) -> tensor<4x16xf32, #tile.axes<"i", "k">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg5) [] <exact> : memref<16x256xf32>, (!tile.span<"k", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"k", "j">>
      %5 = tile.dot %3, %4 over "k" acc %arg7 : tensor<4x16xf32, #tile.axes<"i", "k">>, tensor<16x64xf32, #tile.axes<"k", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    %2 = tile.for fold %arg6 = "l" %c0_i64 to %c16_i64 by 16 iter_args(%arg7 = %1 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg6) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"l", 16>) -> tensor<4x16xf32, #tile.axes<"i", "l">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg5) [] <exact> : memref<16x256xf32>, (!tile.span<"l", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"l", "j">>
      %5 = tile.dot %3, %4 over "l" acc %arg7 : tensor<4x16xf32, #tile.axes<"i", "l">>, tensor<16x64xf32, #tile.axes<"l", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %2, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %arg5) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// Sums of both would take more registers than a loop's threads should have.

// CHECK-LABEL: tile.kernel @large(
// CHECK: tile.for fold %{{.*}} = "k"
// CHECK: tile.for fold %{{.*}} = "l"
tile.kernel @large(%arg0: memref<256x16xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<256x16xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<16x256xf32> {tile.mode = "in", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg3: memref<256x256xf32> {tile.mode = "out", tile.name = "p", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}, %arg4: memref<256x256xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 128 : i64, j = 128 : i64, k = 16 : i64, l = 16 : i64}, tile.bound = {K = 16 : i64, M = 256 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c256_i64 = arith.constant 256 : i64
  %c16_i64 = arith.constant 16 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg5 = tiles "i" %c0_i64 to %c256_i64 by 128, %arg6 = tiles "j" %c0_i64 to %c256_i64 by 128) {
    %0 = tile.broadcast %cst : f32 to tensor<128x128xf32, #tile.axes<"i", "j">>
    %1 = tile.for fold %arg7 = "k" %c0_i64 to %c16_i64 by 16 iter_args(%arg8 = %0 : tensor<128x128xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<256x16xf32>, (!tile.span<"i", 128>, !tile.span<"k", 16>) -> tensor<128x16xf32, #tile.axes<"i", "k">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<16x256xf32>, (!tile.span<"k", 16>, !tile.span<"j", 128>) -> tensor<16x128xf32, #tile.axes<"k", "j">>
      %5 = tile.dot %3, %4 over "k" acc %arg8 : tensor<128x16xf32, #tile.axes<"i", "k">>, tensor<16x128xf32, #tile.axes<"k", "j">> -> tensor<128x128xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<128x128xf32, #tile.axes<"i", "j">>
    }
    tile.store %1, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<128x128xf32, #tile.axes<"i", "j">>, memref<256x256xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
    %2 = tile.for fold %arg7 = "l" %c0_i64 to %c16_i64 by 16 iter_args(%arg8 = %0 : tensor<128x128xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<256x16xf32>, (!tile.span<"i", 128>, !tile.span<"l", 16>) -> tensor<128x16xf32, #tile.axes<"i", "l">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<16x256xf32>, (!tile.span<"l", 16>, !tile.span<"j", 128>) -> tensor<16x128xf32, #tile.axes<"l", "j">>
      %5 = tile.dot %3, %4 over "l" acc %arg8 : tensor<128x16xf32, #tile.axes<"i", "l">>, tensor<16x128xf32, #tile.axes<"l", "j">> -> tensor<128x128xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<128x128xf32, #tile.axes<"i", "j">>
    }
    tile.store %2, %arg4 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<128x128xf32, #tile.axes<"i", "j">>, memref<256x256xf32>, (!tile.span<"i", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// -----

// Loops of several turns read operands a turn ahead, which hides more.

// CHECK-LABEL: tile.kernel @long_rows(
// CHECK: tile.for fold %{{.*}} = "k"
// CHECK: tile.for fold %{{.*}} = "l"
tile.kernel @long_rows(%arg0: memref<4x64xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4x64xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<64x256xf32> {tile.mode = "in", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg3: memref<4x256xf32> {tile.mode = "out", tile.name = "p", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}, %arg4: memref<4x256xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 4 : i64, j = 64 : i64, k = 16 : i64, l = 16 : i64}, tile.bound = {K = 64 : i64, M = 4 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i64 = arith.constant 4 : i64
  %c256_i64 = arith.constant 256 : i64
  %c64_i64 = arith.constant 64 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg5 = tiles "i" %c0_i64 to %c4_i64 by 4, %arg6 = tiles "j" %c0_i64 to %c256_i64 by 64) {
    %0 = tile.broadcast %cst : f32 to tensor<4x64xf32, #tile.axes<"i", "j">>
    %1 = tile.for fold %arg7 = "k" %c0_i64 to %c64_i64 by 16 iter_args(%arg8 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<4x64xf32>, (!tile.span<"i", 4>, !tile.span<"k", 16>) -> tensor<4x16xf32, #tile.axes<"i", "k">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<64x256xf32>, (!tile.span<"k", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"k", "j">>
      %5 = tile.dot %3, %4 over "k" acc %arg8 : tensor<4x16xf32, #tile.axes<"i", "k">>, tensor<16x64xf32, #tile.axes<"k", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %1, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
    %2 = tile.for fold %arg7 = "l" %c0_i64 to %c64_i64 by 16 iter_args(%arg8 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %3 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg7) [] <exact> : memref<4x64xf32>, (!tile.span<"i", 4>, !tile.span<"l", 16>) -> tensor<4x16xf32, #tile.axes<"i", "l">>
      %4 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg7, %arg6) [] <exact> : memref<64x256xf32>, (!tile.span<"l", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"l", "j">>
      %5 = tile.dot %3, %4 over "l" acc %arg8 : tensor<4x16xf32, #tile.axes<"i", "l">>, tensor<16x64xf32, #tile.axes<"l", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %5 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %2, %arg4 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %arg6) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
}

// -----

// What a contraction takes in each turn is read there, not held: its fragments would take registers of all threads.

// CHECK-LABEL: tile.kernel @held(
// CHECK: tile.parallel
// CHECK-NOT: tile.load
// CHECK: tile.for fold
// CHECK-NEXT: tile.load %arg0
// CHECK-NEXT: tile.load %arg1
tile.kernel @held(%arg0: memref<64x64xf32> {tile.mode = "in", tile.name = "q", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<256x64xf32> {tile.mode = "in", tile.name = "k", tile.shape = affine_map<()[s0, s1, s2] -> (s2, s1)>, tile.type = "f32"}, %arg2: memref<256x64xf32> {tile.mode = "in", tile.name = "v", tile.shape = affine_map<()[s0, s1, s2] -> (s2, s1)>, tile.type = "f32"}, %arg3: memref<64x64xf32> {tile.mode = "out", tile.name = "o", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}) attributes {dims = ["M", "D", "N"], schedule = {i = 16 : i64, j = 16 : i64}, tile.bound = {D = 64 : i64, M = 64 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c256_i64 = arith.constant 256 : i64
  %c64_i64 = arith.constant 64 : i64
  %c0_i64 = arith.constant 0 : i64
  %0 = tile.axis %c0_i64 to %c64_i64 : <"D", 64>
  tile.parallel (%arg4 = tiles "i" %c0_i64 to %c64_i64 by 16) {
    %1 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %0) [] <exact> : memref<64x64xf32>, (!tile.span<"i", 16>, !tile.span<"D", 64>) -> tensor<16x64xf32, #tile.axes<"i", "D">>
    %2 = tile.broadcast %cst : f32 to tensor<16x64xf32, #tile.axes<"i", "D">>
    %3 = tile.for fold %arg5 = "j" %c0_i64 to %c256_i64 by 16 iter_args(%arg6 = %2 : tensor<16x64xf32, #tile.axes<"i", "D">>) {
      %4 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %0) [] <exact> : memref<256x64xf32>, (!tile.span<"j", 16>, !tile.span<"D", 64>) -> tensor<16x64xf32, #tile.axes<"j", "D">>
      %5 = tile.broadcast %cst : f32 to tensor<16x16xf32, #tile.axes<"i", "j">>
      %6 = tile.dot %1, %4 over "D" acc %5 : tensor<16x64xf32, #tile.axes<"i", "D">>, tensor<16x64xf32, #tile.axes<"j", "D">> -> tensor<16x16xf32, #tile.axes<"i", "j">>
      %7 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg5, %0) [] <exact> : memref<256x64xf32>, (!tile.span<"j", 16>, !tile.span<"D", 64>) -> tensor<16x64xf32, #tile.axes<"j", "D">>
      %8 = tile.dot %6, %7 over "j" acc %arg6 : tensor<16x16xf32, #tile.axes<"i", "j">>, tensor<16x64xf32, #tile.axes<"j", "D">> -> tensor<16x64xf32, #tile.axes<"i", "D">>
      tile.yield %8 : tensor<16x64xf32, #tile.axes<"i", "D">>
    }
    tile.store %3, %arg3 at affine_map<(d0, d1) -> (d0, d1)>(%arg4, %0) [] : tensor<16x64xf32, #tile.axes<"i", "D">>, memref<64x64xf32>, (!tile.span<"i", 16>, !tile.span<"D", 64>)
  }
  tile.return
}

// -----

// What follows an assertion is read once that holds.

// CHECK-LABEL: tile.kernel @asserted(
// CHECK: tile.for fold %{{.*}} = "k"
// CHECK: tile.assert
// CHECK: tile.for fold %{{.*}} = "l"
tile.kernel @asserted(%arg0: memref<4x16xf32> {tile.mode = "in", tile.name = "a", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg1: memref<4x16xf32> {tile.mode = "in", tile.name = "b", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s1)>, tile.type = "f32"}, %arg2: memref<16x256xf32> {tile.mode = "in", tile.name = "c", tile.shape = affine_map<()[s0, s1, s2] -> (s1, s2)>, tile.type = "f32"}, %arg3: memref<1xi64> {tile.mode = "in", tile.name = "id", tile.shape = affine_map<()[s0, s1, s2] -> (1)>, tile.type = "i64"}, %arg4: memref<4x256xf32> {tile.mode = "out", tile.name = "p", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}, %arg5: memref<4x256xf32> {tile.mode = "out", tile.name = "q", tile.shape = affine_map<()[s0, s1, s2] -> (s0, s2)>, tile.type = "f32"}) attributes {dims = ["M", "K", "N"], schedule = {i = 4 : i64, j = 64 : i64, k = 16 : i64, l = 16 : i64}, tile.bound = {K = 16 : i64, M = 4 : i64, N = 256 : i64}} {
  %cst = arith.constant 0.000000e+00 : f32
  %c4_i64 = arith.constant 4 : i64
  %c256_i64 = arith.constant 256 : i64
  %c16_i64 = arith.constant 16 : i64
  %c0_i64 = arith.constant 0 : i64
  tile.parallel (%arg6 = tiles "i" %c0_i64 to %c4_i64 by 4, %arg7 = tiles "j" %c0_i64 to %c256_i64 by 64) {
    %0 = tile.broadcast %cst : f32 to tensor<4x64xf32, #tile.axes<"i", "j">>
    %1 = tile.for fold %arg8 = "k" %c0_i64 to %c16_i64 by 16 iter_args(%arg9 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %5 = tile.load %arg0 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg8) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"k", 16>) -> tensor<4x16xf32, #tile.axes<"i", "k">>
      %6 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg8, %arg7) [] <exact> : memref<16x256xf32>, (!tile.span<"k", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"k", "j">>
      %7 = tile.dot %5, %6 over "k" acc %arg9 : tensor<4x16xf32, #tile.axes<"i", "k">>, tensor<16x64xf32, #tile.axes<"k", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %7 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    %2 = tile.load %arg3 at affine_map<() -> (0)>() [] <exact> : memref<1xi64>, () -> i64
    %3 = arith.cmpi eq, %2, %c0_i64 : i64
    tile.assert %3, "`id[0] == 0`" : i1
    %4 = tile.for fold %arg8 = "l" %c0_i64 to %c16_i64 by 16 iter_args(%arg9 = %0 : tensor<4x64xf32, #tile.axes<"i", "j">>) {
      %5 = tile.load %arg1 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg8) [] <exact> : memref<4x16xf32>, (!tile.span<"i", 4>, !tile.span<"l", 16>) -> tensor<4x16xf32, #tile.axes<"i", "l">>
      %6 = tile.load %arg2 at affine_map<(d0, d1) -> (d0, d1)>(%arg8, %arg7) [] <exact> : memref<16x256xf32>, (!tile.span<"l", 16>, !tile.span<"j", 64>) -> tensor<16x64xf32, #tile.axes<"l", "j">>
      %7 = tile.dot %5, %6 over "l" acc %arg9 : tensor<4x16xf32, #tile.axes<"i", "l">>, tensor<16x64xf32, #tile.axes<"l", "j">> -> tensor<4x64xf32, #tile.axes<"i", "j">>
      tile.yield %7 : tensor<4x64xf32, #tile.axes<"i", "j">>
    }
    tile.store %1, %arg4 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg7) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
    tile.store %4, %arg5 at affine_map<(d0, d1) -> (d0, d1)>(%arg6, %arg7) [] : tensor<4x64xf32, #tile.axes<"i", "j">>, memref<4x256xf32>, (!tile.span<"i", 4>, !tile.span<"j", 64>)
  }
  tile.return
}
