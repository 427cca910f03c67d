// RUN: tile-opt %s -split-input-file --tile-gpu-assign-layouts | tile-translate -split-input-file --tile-gpu-to-ptx --target=sm_80 | FileCheck %s

// What a contraction by threads takes in all turns of its loop and was computed before it lies in shared memory from
// then on: each turn stores the other operand alone.

// CHECK: // scores: 128 threads, 33312 bytes of shared memory
// CHECK: bar.sync
// CHECK-COUNT-32: st.shared
// CHECK-NOT: st.shared
// CHECK: bar.sync
// CHECK: $L__BB
// CHECK: bar.sync
// CHECK-COUNT-32: st.shared
// CHECK-NOT: st.shared
// CHECK: bar.sync
// CHECK: ld.shared
#at = affine_map<(x, y) -> (x, y)>
!id = tensor<64x64xf32, #tile.axes<"i", "d">>
!jd = tensor<64x64xf32, #tile.axes<"j", "d">>
!ij = tensor<64x64xf32, #tile.axes<"i", "j">>
!i = tensor<64xf32, #tile.axes<"i">>
tile.kernel @scores(
    %q: memref<?x64xf32> {tile.name = "q", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (m, 64)>},
    %k: memref<?x64xf32> {tile.name = "k", tile.mode = "in", tile.shape = affine_map<()[m, n] -> (n, 64)>},
    %t: memref<?xf32> {tile.name = "t", tile.mode = "out", tile.shape = affine_map<()[m, n] -> (m)>})
    attributes {dims = ["M", "N"]} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %d = tile.axis %c0 to %c64 : !tile.span<"d", 64>
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    %x = tile.load %q at #at(%i, %d) [] <exact> : memref<?x64xf32>, (!tile.span<"i", 64>, !tile.span<"d", 64>) -> !id
    %turned = math.exp %x : !id
    %zeros = tile.broadcast %zero : f32 to !i
    %top = tile.for fold %j = "j" %c0 to %N by 64 iter_args(%before = %zeros : !i) {
      %y = tile.load %k at #at(%j, %d) [] <exact> : memref<?x64xf32>, (!tile.span<"j", 64>, !tile.span<"d", 64>) -> !jd
      %none = tile.broadcast %zero : f32 to !ij
      %s = tile.dot %turned, %y over "d" acc %none : !id, !jd -> !ij
      %m = tile.reduce <max> %s over ["j"] : !ij -> !i
      %both = arith.maximumf %before, %m : !i
      tile.yield %both : !i
    }
    tile.store %top, %t at affine_map<(x) -> (x)>(%i) [] : !i, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
}
