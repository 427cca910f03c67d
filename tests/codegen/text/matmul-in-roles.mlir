// RUN: tile-opt %s | tile-opt | FileCheck %s --check-prefix=TEXT
// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// C = A · Bᵀ in bf16, as fast as the machine: one group of warps fetches blocks of A and B with
// bulk copies, another one multiplies what is there on the tensor cores. A block of threads runs
// program after program, so that the next one's operands are fetched while a result is
// stored. tests/runtime/CudaRealMatmulTest.cpp runs this file.

// TEXT: tile_gpu.channel : <4, [!tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>, !tile_gpu.shared<tensor<256x64xbf16>, swizzle = 128>]>
// TEXT: tile_gpu.roles "load" warps 4 registers 40 {
// TEXT: tile_gpu.put %{{.*}}[%{{.*}}] from %{{.*}}, %{{.*}} at [
// TEXT: }, "multiply" warps 8 registers 232 {
// TEXT: tile_gpu.mma %{{.*}}, %{{.*}}, %{{.*}} :

// CHECK: // matmul: 384 threads, 196672 bytes of shared memory
// CHECK-NEXT: // tensor map: parameter 0, box 64x128, swizzle 128
// CHECK-NEXT: // tensor map: parameter 1, box 64x256, swizzle 128
// CHECK: .reqntid 384
// CHECK: .minnctapersm 1
// CHECK: setp.ne.b32 [[IDLE:%p[0-9]+]], %r{{[0-9]+}}, 0;
// CHECK-COUNT-8: mbarrier.init
// CHECK: setmaxnreg.dec.sync.aligned.u32 40
// One thread runs all of the role that loads; others leave before its loops.
// CHECK: @[[IDLE]] bra
// CHECK: mbarrier.arrive.expect_tx
// CHECK-COUNT-2: cp.async.bulk.tensor.2d
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK: wgmma.commit_group
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK: wgmma.wait_group.sync.aligned 0

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
!a = !tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>
!b = !tile_gpu.shared<tensor<256x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<4, [!a, !b]>
!sum = tensor<128x256xf32, #acc>
!out = tensor<128x256xbf16, #acc>

tile.kernel @matmul(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xbf16> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile_gpu.warps = 12, tile_gpu.persistent,
                tile_gpu.group = 8, tile.divisors = {N = 16}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c63 = arith.constant 63 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %padded = arith.addi %K, %c63 : i64
  %blocks = arith.divui %padded, %c64 : i64
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // Items go on from program to program.
      %item = tile_gpu.work_item
      %first = arith.muli %item, %blocks : i64
      scf.for %k = %c0 to %blocks step %c1 : i64 {
        %n = arith.addi %first, %k : i64
        tile_gpu.put %items[%n] from %a, %b
          at [affine_map<(i, j, k) -> (i, k * 64)>, affine_map<(i, j, k) -> (j, k * 64)>](%i, %j, %k)
          : !items from memref<?x?xbf16>, memref<?x?xbf16> at !tile.span<"i", 128>, !tile.span<"j", 256>, i64
      }
    }, "multiply" warps 8 registers 232 {
      %item = tile_gpu.work_item
      %first = arith.muli %item, %blocks : i64
      %zeros = tile.broadcast %zero : f32 to !sum
      %begun = tile_gpu.mma_begin %zeros : !sum to !tile_gpu.pending<!sum>
      %sum = scf.for %k = %c0 to %blocks step %c1 iter_args(%acc = %begun) -> (!tile_gpu.pending<!sum>) : i64 {
        %n = arith.addi %first, %k : i64
        %ta, %tb = tile_gpu.get %items[%n] : !items to !a, !b
        %started = tile_gpu.mma %ta, %tb, %acc : !a, !b, !tile_gpu.pending<!sum>
        // The block before is read; this one's product runs on.
        %running = tile_gpu.mma_wait %started pending 1 : !tile_gpu.pending<!sum>
        %isLater = arith.cmpi sgt, %k, %c0 : i64
        scf.if %isLater {
          %before = arith.subi %n, %c1 : i64
          tile_gpu.release %items[%before] : !items
        }
        scf.yield %running : !tile_gpu.pending<!sum>
      }
      %product = tile_gpu.mma_end %sum : !tile_gpu.pending<!sum> to !sum
      %isAny = arith.cmpi sgt, %blocks, %c0 : i64
      scf.if %isAny {
        %next = arith.addi %first, %blocks : i64
        %last = arith.subi %next, %c1 : i64
        tile_gpu.release %items[%last] : !items
      }
      %rounded = arith.truncf %product : !sum to !out
      tile.store %rounded, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !out, memref<?x?xbf16>, (!tile.span<"i", 128>, !tile.span<"j", 256>)
    }
  }
  tile.return
}
