// RUN: tile-translate --tile-gpu-to-llvm %s | FileCheck %s

// A block of random bits takes twenty products of 32 bits, of which the first one of the stream is
// a constant, and serves four draws.

// Four neighbours of a thread, in rows that begin with blocks: one block for them.
// CHECK-LABEL: void @neighbours(
// CHECK-COUNT-19: = mul
// CHECK-NOT: = mul
// CHECK: store <4 x i32>
// CHECK: ret void
tile.kernel @neighbours(%seed: i64 {tile.name = "seed", tile.mode = "in"}, %b: memref<16x32xi32> {tile.name = "b", tile.mode = "out", tile.shape = affine_map<() -> (16, 32)>})
    attributes {dims = [], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %cM = arith.constant 16 : i64
  %cN = arith.constant 32 : i64
  %mul = arith.constant 32 : i64
  %off = arith.constant 0 : i64
  %stream = arith.constant 5 : i64
  tile.parallel (%i = tiles "i" %c0 to %cM by 16, %j = tiles "j" %c0 to %cN by 32) {
    %ci = tile.coords %i : !tile.span<"i", 16> -> tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %cj = tile.coords %j : !tile.span<"j", 32> -> tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]], repeat = [1]>>
    %m = tile.broadcast %mul : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %o = tile.broadcast %off : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %r0 = arith.muli %ci, %m : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %r1 = arith.addi %r0, %o : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %rb = tile.broadcast %r1 : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %jb = tile.broadcast %cj : tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %n = arith.addi %rb, %jb : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %s = tile.broadcast %seed : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %st = tile.broadcast %stream : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %w = tile.philox <own> %s, %st, %n : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>> -> tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    tile.store %w, %b at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>, memref<16x32xi32>, (!tile.span<"i", 16>, !tile.span<"j", 32>)
  }
  tile.return
}
// Rows begin anywhere: two blocks, and each word is one of four.
// CHECK-LABEL: void @anywhere(
// CHECK-COUNT-39: = mul
// CHECK-NOT: = mul
// CHECK: store <4 x i32>
// CHECK: ret void
tile.kernel @anywhere(%seed: i64 {tile.name = "seed", tile.mode = "in"}, %b: memref<16x32xi32> {tile.name = "b", tile.mode = "out", tile.shape = affine_map<() -> (16, 32)>})
    attributes {dims = [], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %cM = arith.constant 16 : i64
  %cN = arith.constant 32 : i64
  %mul = arith.constant 33 : i64
  %off = arith.constant 0 : i64
  %stream = arith.constant 5 : i64
  tile.parallel (%i = tiles "i" %c0 to %cM by 16, %j = tiles "j" %c0 to %cN by 32) {
    %ci = tile.coords %i : !tile.span<"i", 16> -> tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %cj = tile.coords %j : !tile.span<"j", 32> -> tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]], repeat = [1]>>
    %m = tile.broadcast %mul : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %o = tile.broadcast %off : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %r0 = arith.muli %ci, %m : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %r1 = arith.addi %r0, %o : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>>
    %rb = tile.broadcast %r1 : tensor<16xi64, #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %jb = tile.broadcast %cj : tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %n = arith.addi %rb, %jb : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %s = tile.broadcast %seed : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %st = tile.broadcast %stream : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    %w = tile.philox <first> %s, %st, %n : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>> -> tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>
    tile.store %w, %b at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], repeat = [1, 1]>>, memref<16x32xi32>, (!tile.span<"i", 16>, !tile.span<"j", 32>)
  }
  tile.return
}
// An accumulator: two lanes have two columns each of a block. Of sixteen registers each lane
// computes four blocks, and gets the half of four others.
// CHECK-LABEL: void @accumulator(
// CHECK-COUNT-75: = mul
// CHECK-NOT: = mul
// CHECK: ret void
tile.kernel @accumulator(%seed: i64 {tile.name = "seed", tile.mode = "in"}, %b: memref<64x32xi32> {tile.name = "b", tile.mode = "out", tile.shape = affine_map<() -> (64, 32)>})
    attributes {dims = [], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %cM = arith.constant 64 : i64
  %cN = arith.constant 32 : i64
  %mul = arith.constant 64 : i64
  %off = arith.constant 8 : i64
  %stream = arith.constant 5 : i64
  tile.parallel (%i = tiles "i" %c0 to %cM by 64, %j = tiles "j" %c0 to %cN by 32) {
    %ci = tile.coords %i : !tile.span<"i", 64> -> tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>>
    %cj = tile.coords %j : !tile.span<"j", 32> -> tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [8], [16]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]], repeat = [1]>>
    %m = tile.broadcast %mul : i64 to tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>>
    %o = tile.broadcast %off : i64 to tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>>
    %r0 = arith.muli %ci, %m : tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>>
    %r1 = arith.addi %r0, %o : tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>>
    %rb = tile.broadcast %r1 : tensor<64xi64, #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]], repeat = [1]>> to tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    %jb = tile.broadcast %cj : tensor<32xi64, #tile_gpu.layout<["j"], register = [[1], [8], [16]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]], repeat = [1]>> to tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    %n = arith.addi %rb, %jb : tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    %s = tile.broadcast %seed : i64 to tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    %st = tile.broadcast %stream : i64 to tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    %w = tile.philox <own> %s, %st, %n : tensor<64x32xi64, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>> -> tensor<64x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>
    tile.store %w, %b at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<64x32xi32, #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>>, memref<64x32xi32>, (!tile.span<"i", 64>, !tile.span<"j", 32>)
  }
  tile.return
}
// Neighbours in four lanes: each computes the block of another row, and they send each other words.
// CHECK-LABEL: void @lanes(
// CHECK-COUNT-19: = mul
// CHECK-NOT: = mul
// CHECK-COUNT-3: call i32 @llvm.nvvm.shfl.sync.bfly.i32
// CHECK-NOT: call i32 @llvm.nvvm.shfl
// CHECK: ret void
tile.kernel @lanes(%seed: i64 {tile.name = "seed", tile.mode = "in"}, %b: memref<16x32xi32> {tile.name = "b", tile.mode = "out", tile.shape = affine_map<() -> (16, 32)>})
    attributes {dims = [], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %cM = arith.constant 16 : i64
  %cN = arith.constant 32 : i64
  %mul = arith.constant 32 : i64
  %off = arith.constant 0 : i64
  %stream = arith.constant 5 : i64
  tile.parallel (%i = tiles "i" %c0 to %cM by 16, %j = tiles "j" %c0 to %cN by 32) {
    %ci = tile.coords %i : !tile.span<"i", 16> -> tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>>
    %cj = tile.coords %j : !tile.span<"j", 32> -> tensor<32xi64, #tile_gpu.layout<["j"], register = [], lane = [[1], [2], [4], [0], [0]], warp = [[8], [16]], repeat = [1]>>
    %m = tile.broadcast %mul : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>>
    %o = tile.broadcast %off : i64 to tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>>
    %r0 = arith.muli %ci, %m : tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>>
    %r1 = arith.addi %r0, %o : tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>>
    %rb = tile.broadcast %r1 : tensor<16xi64, #tile_gpu.layout<["i"], register = [[4], [8]], lane = [[0], [0], [0], [1], [2]], warp = [[0], [0]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    %jb = tile.broadcast %cj : tensor<32xi64, #tile_gpu.layout<["j"], register = [], lane = [[1], [2], [4], [0], [0]], warp = [[8], [16]], repeat = [1]>> to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    %n = arith.addi %rb, %jb : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    %s = tile.broadcast %seed : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    %st = tile.broadcast %stream : i64 to tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    %w = tile.philox <own> %s, %st, %n : tensor<16x32xi64, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>> -> tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>
    tile.store %w, %b at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<16x32xi32, #tile_gpu.layout<["i", "j"], register = [[4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[0, 8], [0, 16]], repeat = [1, 1]>>, memref<16x32xi32>, (!tile.span<"i", 16>, !tile.span<"j", 32>)
  }
  tile.return
}
