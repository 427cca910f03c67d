// RUN: tile-opt %s --tile-gpu-assign-layouts | tile-translate --tile-gpu-to-ptx --target=sm_80 > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=ONE < %t

// Operands of turns to come are copied to shared memory without waiting (cp.async), into a ring of slots: two
// turns ahead here, for which the schedule's three stages have room. Each turn has one barrier.
//
// 64 × 32 and 64 × 32 elements, rows of 80 bytes: 10240 bytes a slot.
// CHECK: // product: 128 threads, 30720 bytes of shared memory
// CHECK-DAG: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %
// CHECK-DAG: cp.async.commit_group;
// CHECK-DAG: cp.async.wait_group 1;
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4
// CHECK-DAG: mma.sync.aligned.m16n8k16
// One barrier before all copies, since others may read what was there, and one in each turn.
// ONE: // product
// ONE-NOT: cp.async
// ONE: bar.sync
// ONE: cp.async
// ONE-NOT: ld.global
// ONE-NOT: st.shared
// ONE: bar.sync
// ONE-NOT: st.shared
// ONE-NOT: bar.sync
// ONE: // anywhere
//
// Rows that begin anywhere have no copies: elements are read one by one, a turn ahead.
// CHECK: // anywhere: 128 threads
// CHECK-NOT: cp.async
// CHECK: ld.global.nc
// CHECK: st.shared
// CHECK: ldmatrix
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<64x64xf32, #tile.axes<"i", "j">>
tile.kernel @product(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], schedule = {stages = 3}, tile.divisors = {K = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 64) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"j", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x32xbf16, #tile.axes<"i", "k">>, tensor<64x32xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}

tile.kernel @anywhere(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"]} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 64) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xbf16>, (!tile.span<"j", 64>, !tile.span<"k", 32>) -> tensor<64x32xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x32xbf16, #tile.axes<"i", "k">>, tensor<64x32xbf16, #tile.axes<"j", "k">> -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 64>)
  }
  tile.return
}
