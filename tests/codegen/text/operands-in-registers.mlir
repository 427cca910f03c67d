// RUN: tile-opt %s | tile-opt | FileCheck %s --check-prefix=TEXT
// RUN: tile-translate --tile-gpu-to-ptx %s | FileCheck %s

// c = aᵀ · b with a left operand that goes through registers, and sums of what each thread has of its rows; the next
// product starts before the last one is waited for. samples/33-hand-written has whole kernels.

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#left = #tile_gpu.layout<["i", "k"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#part = #tile_gpu.layout<["i", "lane"], register = [[8, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#row = #tile_gpu.layout<["i"], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]], repeat = [1]>
!a = !tile_gpu.shared<tensor<64x128xbf16>, swizzle = 128>
!b = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!a, !b]>
!x = tensor<128x64xbf16, #left>
!acc = tensor<128x64xf32, #acc>

// TEXT-LABEL: tile.kernel @through_registers
// TEXT: %[[FIRST:.*]] = tile_gpu.position %[[ITEMS:.*]] :
// TEXT: tile_gpu.advance %[[ITEMS]] by %{{.*}} :
// TEXT: tile_gpu.read %{{.*}} by_columns : <tensor<64x128xbf16>, swizzle = 128> to tensor<128x64xbf16,
// TEXT: tile_gpu.await_turn
// TEXT: tile_gpu.mma %{{.*}}, %{{.*}} by_columns, %{{.*}} : tensor<128x64xbf16,
// TEXT: tile_gpu.pass_turn
// TEXT: tile_gpu.mma_end %{{.*}} pending 1 :
// TEXT: tile_gpu.partial_reduce <add> %{{.*}} over "j" into "lane" :

// CHECK: // through_registers: 384 threads
// A channel begins at 0, and goes on from program to program.
// CHECK: setmaxnreg.dec.sync.aligned.u32 40
// CHECK: mbarrier.try_wait.parity
// The last warpgroup lets the first one begin; the barriers behind those of the roles are of turns.
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK: barrier.arrive %r{{[0-9]+}}, 256
// CHECK: mbarrier.try_wait.parity
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16
// CHECK: barrier.sync %r{{[0-9]+}}, 256
// Four words of the left operand and a descriptor of the right one, transposed, a step; a group each.
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, {{1|adds}}, 1, 1, 1;
// CHECK: wgmma.commit_group
// CHECK: wgmma.commit_group
// CHECK: barrier.arrive %r{{[0-9]+}}, 256
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK-NOT: shfl
// CHECK: wgmma.wait_group.sync.aligned 0
// Sums of four lanes, in two rows.
// CHECK-COUNT-4: shfl.sync.bfly
// CHECK: mbarrier.arrive.shared::cta.b64

tile.kernel @through_registers(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (k, m)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (k, 64)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, k] -> (m)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 12, tile_gpu.persistent} {
  %zero = arith.constant 0.0 : f32
  %no = arith.constant false
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c64 : !tile.span<"j", 64>
  %k = tile.axis %c0 to %c64 : !tile.span<"k", 64>
  %lanes = tile.axis %c0 to %c4 : !tile.span<"lane", 4>
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 128) {
    tile_gpu.roles "load" warps 4 registers 40 {
      %n = tile_gpu.position %items : !items
      tile_gpu.put %items[%n] from %a, %b
        at [affine_map<(i) -> (0, i)>, affine_map<(i) -> (0, 0)>](%i)
        : !items from memref<?x?xbf16>, memref<?x?xbf16> at !tile.span<"i", 128>
      tile_gpu.advance %items by %c1 : !items
    }, "multiply" warps 8 registers 232 {
      %n = tile_gpu.position %items : !items
      %ta, %tb = tile_gpu.get %items[%n] : !items to !a, !b
      %x = tile_gpu.read %ta by_columns : !a to !x
      tile_gpu.await_turn
      %f1 = tile_gpu.mma_fresh : !tile_gpu.pending<!acc>
      %s1 = tile_gpu.mma %x, %tb by_columns, %f1 if %no : !x, !b, !tile_gpu.pending<!acc>
      %f2 = tile_gpu.mma_fresh : !tile_gpu.pending<!acc>
      %s2 = tile_gpu.mma %x, %tb by_columns, %f2 if %no : !x, !b, !tile_gpu.pending<!acc>
      tile_gpu.pass_turn
      %first = tile_gpu.mma_end %s1 pending 1 : !tile_gpu.pending<!acc> to !acc
      %second = tile_gpu.mma_end %s2 : !tile_gpu.pending<!acc> to !acc
      tile_gpu.release %items[%n] : !items
      tile_gpu.advance %items by %c1 : !items
      %all = arith.addf %first, %second : !acc
      %own = tile_gpu.partial_reduce <add> %all over "j" into "lane" : !acc -> tensor<128x4xf32, #part>
      %sums = tile.reduce <add> %own over ["lane"] : tensor<128x4xf32, #part> -> tensor<128xf32, #row>
      tile.store %sums, %s at affine_map<(i) -> (i)>(%i) [] : tensor<128xf32, #row>, memref<?xf32>, (!tile.span<"i", 128>)
    }
  }
  tile.return
}
