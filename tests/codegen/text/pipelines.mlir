// RUN: tile-opt %s --tile-gpu-build-pipeline | FileCheck %s
// RUN: tile-opt %s --tile-gpu-build-pipeline | tile-translate --tile-gpu-to-ptx | FileCheck %s --check-prefix=PTX

// Loops of products become roles and a channel, with nothing said of hardware. What these kernels
// come to is what tests/codegen/text/matmul-in-roles.mlir has by hand, and more: sums that begin with the
// first product, results that leave by bulk copies, clusters of blocks that fetch for each other.

// C = A · B in bf16, with a bias and a residual: all that follows the loop is the multiplying role's.
// B's blocks are read by columns, as they are in memory.
//
// CHECK-LABEL: tile.kernel @layer
// CHECK-SAME: tile_gpu.group = 16 : i64, tile_gpu.persistent, tile_gpu.warps = 12 : i64
// CHECK: %[[PADDED:.*]] = arith.addi %[[K:.*]], %c63
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[PADDED]], %c64
// CHECK: %[[ITEMS:.*]] = tile_gpu.channel : <4, [!tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>, !tile_gpu.shared<tensor<64x256xbf16>, swizzle = 128>]>
// CHECK: tile.parallel (%[[I:.*]] = tiles "i" {{.*}} by 128, %[[J:.*]] = tiles "j" {{.*}} by 256) {
// CHECK-NEXT: tile_gpu.roles "load" warps 4 registers 40 {
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[BLOCKS]]
// CHECK: tile_gpu.put %[[ITEMS]]{{.*}} from %arg0, %arg1 at [#[[A:.*]], #[[B:.*]]](%[[I]], %[[N]], %[[J]])
// CHECK: }, "multiply" warps 8 registers 232 {
// CHECK: %[[BEGUN:.*]] = scf.if
// CHECK: %[[FRESH:.*]] = tile_gpu.mma_fresh
// CHECK: tile_gpu.get %[[ITEMS]]
// CHECK-NEXT: %[[FIRST:.*]] = tile_gpu.mma %{{.*}}#0, %{{.*}}#1 by_columns, %[[FRESH]] if %false :
// CHECK-NEXT: scf.for {{.*}} = %c1{{.*}} to %[[BLOCKS]] step {{.*}} iter_args(%[[ACC:.*]] = %[[FIRST]])
// CHECK: tile_gpu.get %[[ITEMS]]
// CHECK-NEXT: tile_gpu.mma %{{.*}}#0, %{{.*}}#1 by_columns, %[[ACC]] :
// CHECK-NEXT: tile_gpu.mma_wait %{{.*}} pending 1
// CHECK: tile_gpu.release %[[ITEMS]]
// CHECK: } else {
// CHECK: tile_gpu.mma_begin
// CHECK: %[[SUMS:.*]] = tile_gpu.mma_end %[[BEGUN]]
// CHECK: tile_gpu.release %[[ITEMS]]
// CHECK: arith.addf %[[SUMS]]
// CHECK: tile.load %arg3
// CHECK: tile_gpu.send
//
// PTX: // layer: 384 threads, 230400 bytes of shared memory, persistent, starts early
// PTX-NEXT: // tensor map: parameter 0, box 64x128, swizzle 128
// PTX-NEXT: // tensor map: parameter 1, box 64x64, swizzle 128
// PTX-NEXT: // tensor map: parameter 4, box 64x16, swizzle 128
// Before the kernel in front of it has ended, it makes ready what depends on nothing.
// PTX: mbarrier.init
// PTX-COUNT-3: prefetch.tensormap
// PTX: bar.sync
// PTX-NOT: griddepcontrol.launch_dependents
// PTX: griddepcontrol.wait
// The first of a program's products doesn't add, and stands before the loop.
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, adds, 1, 1, 0, 1
// PTX-COUNT-3: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 1
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 1
// PTX: wgmma.wait_group.sync.aligned 1
// What follows the sums is made 16 columns at a time, and read 64 columns at a time: not all of the
// residual is in registers. The first is asked for while the last product runs, the next before the one before it leaves. What
// that kernel may have written is no constant.
// PTX-NOT: ld.global.nc
// PTX: ld.global.b32
// PTX: wgmma.wait_group.sync.aligned 0
// PTX-NOT: ld.global.nc
// PTX: ld.global.b32
// PTX-COUNT-4: stmatrix.sync.aligned.m8n8.x4
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
// PTX: ld.global.b32
// PTX-COUNT-4: stmatrix.sync.aligned.m8n8.x4
!acc = tensor<128x256xf32, #tile.axes<"i", "j">>
tile.kernel @layer(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<4096x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (k, n)>},
    %bias: memref<?xbf16> {tile.name = "bias", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n)>},
    %r: memref<?x?xbf16> {tile.name = "r", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, n)>},
    %c: memref<?x?xbf16> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}, tile.divisors = {N = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(k, j) -> (k, j)>(%k, %j) [] <exact> : memref<4096x?xbf16>, (!tile.span<"k", 64>, !tile.span<"j", 256>) -> tensor<64x256xbf16, #tile.axes<"k", "j">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<64x256xbf16, #tile.axes<"k", "j">> -> !acc
      tile.yield %next : !acc
    }
    %half = tile.load %bias at affine_map<(j) -> (j)>(%j) [] <exact> : memref<?xbf16>, (!tile.span<"j", 256>) -> tensor<256xbf16, #tile.axes<"j">>
    %single = arith.extf %half : tensor<256xbf16, #tile.axes<"j">> to tensor<256xf32, #tile.axes<"j">>
    %row = tile.broadcast %single : tensor<256xf32, #tile.axes<"j">> to !acc
    %biased = arith.addf %sum, %row : !acc
    %before = tile.load %r at affine_map<(i, j) -> (i, j)>(%i, %j) [] <exact> : memref<?x?xbf16>, (!tile.span<"i", 128>, !tile.span<"j", 256>) -> tensor<128x256xbf16, #tile.axes<"i", "j">>
    %wide = arith.extf %before : tensor<128x256xbf16, #tile.axes<"i", "j">> to !acc
    %all = arith.addf %biased, %wide : !acc
    %rounded = arith.truncf %all : !acc to tensor<128x256xbf16, #tile.axes<"i", "j">>
    tile.store %rounded, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<128x256xbf16, #tile.axes<"i", "j">>, memref<?x?xbf16>, (!tile.span<"i", 128>, !tile.span<"j", 256>)
  }
  tile.return
}

// Few programs: four blocks of threads, a cluster, contract a part each, and add up what they have in
// the order of their numbers; each ends with 32 columns. No block runs a second program.
//
// CHECK-LABEL: tile.kernel @split
// CHECK-NOT: tile_gpu.persistent
// CHECK-SAME: tile_gpu.blocks = 4 : i64
// CHECK: %[[ALL:.*]] = arith.divui
// CHECK: %[[RANK:.*]] = tile_gpu.rank
// CHECK: %[[SCALED:.*]] = arith.muli %[[RANK]], %[[ALL]]
// CHECK: %[[BEGIN:.*]] = arith.divui %[[SCALED]], %c4
// CHECK: %[[COUNT:.*]] = arith.subi %{{.*}}, %[[BEGIN]]
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[COUNT]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[BEGIN]], %[[N]]
// CHECK: tile_gpu.put %[[ITEMS:.*]][%{{.*}}] from %arg0, %arg1 at {{.*}}(%{{.*}}, %[[PLACE]], %{{.*}}) :
// CHECK-NOT: split
// CHECK: %[[SUMS:.*]] = tile_gpu.mma_end %{{.*}} to tensor<64x128xf32, #[[WHOLE:layout[0-9]+]]>
// CHECK: %[[TOTAL:.*]] = tile_gpu.combine %[[SUMS]] through %[[ITEMS]] : tensor<64x128xf32, #[[WHOLE]]> through {{.*}} to tensor<64x128xf32, #[[OWN:layout[0-9]+]]>
// CHECK: tile_gpu.send %[[TOTAL]] {{.*}} : tensor<64x128xf32, #[[OWN]]>
//
// PTX: // split: 256 threads, {{.*}}, 4 blocks a program
// PTX: // tensor map: parameter 2, box 32x16, swizzle 128
// PTX: st.shared::cta.v4.b32
// PTX: barrier.cluster.arrive.release.aligned;
// PTX-NEXT: barrier.cluster.wait.acquire.aligned;
// PTX: mapa.shared::cluster.u32
// PTX-COUNT-16: ld.shared::cluster.v4.b32
!parts = tensor<64x128xf32, #tile.axes<"i", "j">>
tile.kernel @split(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], schedule = {split = 4}, tile.bound = {K = 4096 : i64}, tile.divisors = {N = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !parts
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !parts) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> tensor<64x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !parts
      tile.yield %next : !parts
    }
    tile.store %sum, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !parts, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 128>)
  }
  tile.return
}

// Segments of rows, each with a matrix of its own: where blocks begin is data, which the role that loads
// reads. Rows begin anywhere, and what is outside is zero: copies bring it as such. Numbers that are far outside
// stay there. A tensor without elements has nothing to wait for.
//
// CHECK-LABEL: tile.kernel @grouped
// CHECK: %[[E:.*]] = tile.dim "E"
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[E]], %c0
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK: tile_gpu.roles "load"
// CHECK: %[[FIRST:.*]] = tile.load %arg2
// CHECK: arith.maxsi
// CHECK: %[[ROW:.*]] = arith.minsi
// CHECK: tile.load %arg3
// CHECK: arith.maxsi
// CHECK: %[[MATRIX:.*]] = arith.minsi
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[COUNT]]
// CHECK-NOT: tile.load
// CHECK: tile_gpu.put {{.*}}(%{{.*}}, %[[ROW]], %[[N]], %[[MATRIX]], %{{.*}}) :
// CHECK: }, "multiply"
// CHECK-NOT: tile.load
// CHECK: tile_gpu.send
//
// PTX: // grouped: 384 threads
// PTX: // tensor map: parameter 1, box 64x128x1, swizzle 128
!block = tensor<128x128xf32, #tile.axes<"r", "j">>
tile.kernel @grouped(
    %a: memref<?x256xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k, e, p] -> (m, k)>},
    %b: memref<?x?x256xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k, e, p] -> (e, n, k)>},
    %first: memref<?xi64> {tile.name = "first", tile.mode = "in", tile.shape = affine_map<()[m, n, k, e, p] -> (p)>},
    %matrix: memref<?xi64> {tile.name = "matrix", tile.mode = "in", tile.shape = affine_map<()[m, n, k, e, p] -> (p)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k, e, p] -> (p * 128, n)>})
    attributes {dims = ["M", "N", "K", "E", "P"], tile.bound = {K = 256 : i64}, tile.divisors = {N = 16}} {
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %P = tile.dim "P"
  %N = tile.dim "N"
  %K = arith.constant 256 : i64
  tile.parallel (%p = each "p" %c0 to %P, %j = tiles "j" %c0 to %N by 128) {
    %r = tile.axis %c0 to %c128 : <"r", 128>
    %zeros = tile.broadcast %zero : f32 to !block
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !block) {
      %row = tile.load %first at affine_map<()[p] -> (p)>() [%p] <exact> : memref<?xi64>, () -> i64
      %x = tile.load %a at affine_map<(r, k)[f] -> (f + r, k)>(%r, %k) [%row] <pad> else %none : memref<?x256xbf16>, (!tile.span<"r", 128>, !tile.span<"k", 64>), bf16 -> tensor<128x64xbf16, #tile.axes<"r", "k">>
      %which = tile.load %matrix at affine_map<()[p] -> (p)>() [%p] <exact> : memref<?xi64>, () -> i64
      %y = tile.load %b at affine_map<(j, k)[e] -> (e, j, k)>(%j, %k) [%which] <pad> else %none : memref<?x?x256xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>), bf16 -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"r", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !block
      tile.yield %next : !block
    }
    tile.store %sum, %c at affine_map<(r, j)[p] -> (p * 128 + r, j)>(%r, %j) [%p] : !block, memref<?x?xf32>, (!tile.span<"r", 128>, !tile.span<"j", 128>)
  }
  tile.return
}

// Matrix by matrix of a batch, in f16, with few rows: one group of four warps multiplies, and the
// copies begin at the matrix' number.
//
// CHECK-LABEL: tile.kernel @batched
// CHECK-NOT: tile_gpu.group
// CHECK: tile_gpu.put %{{.*}} from %arg0, %arg1 at [#{{.*}}, #{{.*}}](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} at i64, !tile.span<"i", 64>, i64, !tile.span<"j", 128>
// CHECK: }, "multiply" warps 4 registers 240 {
//
// PTX: // batched: 256 threads
// PTX-NEXT: // tensor map: parameter 0, box 64x64x1, swizzle 128
// PTX-NEXT: // tensor map: parameter 1, box 64x128x1, swizzle 128
// PTX: cp.async.bulk.tensor.3d.shared::cluster.global
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
!few = tensor<64x128xf32, #tile.axes<"i", "j">>
tile.kernel @batched(
    %a: memref<?x?x256xf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[q, m, n, k] -> (q, m, k)>},
    %b: memref<?x?x256xf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[q, m, n, k] -> (q, n, k)>},
    %c: memref<?x?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[q, m, n, k] -> (q, m, n)>})
    attributes {dims = ["Q", "M", "N", "K"], tile.bound = {K = 256 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %Q = tile.dim "Q"
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 256 : i64
  tile.parallel (%q = each "q" %c0 to %Q, %i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !few
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !few) {
      %x = tile.load %a at affine_map<(i, k)[q] -> (q, i, k)>(%i, %k) [%q] <exact> : memref<?x?x256xf16>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> tensor<64x64xf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k)[q] -> (q, j, k)>(%j, %k) [%q] <exact> : memref<?x?x256xf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x64xf16, #tile.axes<"i", "k">>, tensor<128x64xf16, #tile.axes<"j", "k">> -> !few
      tile.yield %next : !few
    }
    tile.store %sum, %c at affine_map<(i, j)[q] -> (q, i, j)>(%i, %j) [%q] : !few, memref<?x?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 128>)
  }
  tile.return
}

// A result whose columns a program has all of: its rows' sums follow.
//
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.axis
// CHECK: tile.parallel
// CHECK: tile_gpu.put
// CHECK: tile_gpu.mma_end
// CHECK: tile.reduce
//
// PTX: // rows: 384 threads
!part = tensor<128x256xf32, #tile.axes<"i", "j">>
tile.kernel @rows(
    %a: memref<?x512xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>},
    %b: memref<256x512xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (256, k)>},
    %s: memref<?xf32> {tile.name = "s", tile.mode = "out", tile.shape = affine_map<()[m, k] -> (m)>})
    attributes {dims = ["M", "K"], tile.bound = {K = 512 : i64}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 128) {
    %c256 = arith.constant 256 : i64
    %K = arith.constant 512 : i64
    %j = tile.axis %c0 to %c256 : <"j", 256>
    %zeros = tile.broadcast %zero : f32 to !part
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !part) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x512xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<256x512xbf16>, (!tile.span<"j", 256>, !tile.span<"k", 64>) -> tensor<256x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x64xbf16, #tile.axes<"i", "k">>, tensor<256x64xbf16, #tile.axes<"j", "k">> -> !part
      tile.yield %next : !part
    }
    %total = tile.reduce <add> %sum over ["j"] : !part -> tensor<128xf32, #tile.axes<"i">>
    tile.store %total, %s at affine_map<(i) -> (i)>(%i) [] : tensor<128xf32, #tile.axes<"i">>, memref<?xf32>, (!tile.span<"i", 128>)
  }
  tile.return
}

// 256 × 256 of a result are more than a block of threads has registers for: a cluster of two has them.
// Each has its own rows of A, and fetches half of B for both.
//
// CHECK-LABEL: tile.kernel @shared
// CHECK-SAME: tile_gpu.blocks = 2 : i64, tile_gpu.group = 4 : i64
// CHECK: tile_gpu.channel : <3, [!tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>, !tile_gpu.shared<tensor<256x64xbf16>, swizzle = 128>]>
// CHECK: tile_gpu.put {{.*}} split [0, -1]
// CHECK: tile_gpu.send
//
// PTX: // shared: 384 threads, {{[0-9]+}} bytes of shared memory, 2 blocks a program, persistent
// PTX-NEXT: // tensor map: parameter 0, box 64x128, swizzle 128
// PTX-NEXT: // tensor map: parameter 1, box 64x128, swizzle 128
// PTX-NEXT: // tensor map: parameter 2, box 64x16, swizzle 128
// PTX: .explicitcluster
// PTX: .reqnctapercluster 2
// PTX: mbarrier.init.shared::cta.b64 [%r{{[0-9]+}}], %r{{[0-9]+}}
// PTX: barrier.cluster.arrive.relaxed.aligned
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
// PTX: mapa.shared::cluster.u32
// PTX-NEXT: mbarrier.arrive.shared::cluster.b64
// PTX: barrier.cluster.arrive.release.aligned
!wide = tensor<256x256xf32, #tile.axes<"i", "j">>
tile.kernel @shared(
    %a: memref<?x512xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x512xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xbf16> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 512 : i64}, tile.divisors = {N = 8},
                schedule = {order = "grouped(4)", stages = 3}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 512 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 256, %j = tiles "j" %c0 to %N by 256) {
    %zeros = tile.broadcast %zero : f32 to !wide
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !wide) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x512xbf16>, (!tile.span<"i", 256>, !tile.span<"k", 64>) -> tensor<256x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x512xbf16>, (!tile.span<"j", 256>, !tile.span<"k", 64>) -> tensor<256x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<256x64xbf16, #tile.axes<"i", "k">>, tensor<256x64xbf16, #tile.axes<"j", "k">> -> !wide
      tile.yield %next : !wide
    }
    %rounded = arith.truncf %sum : !wide to tensor<256x256xbf16, #tile.axes<"i", "j">>
    tile.store %rounded, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : tensor<256x256xbf16, #tile.axes<"i", "j">>, memref<?x?xbf16>, (!tile.span<"i", 256>, !tile.span<"j", 256>)
  }
  tile.return
}

// What the loop rounds to tf32 is rounded by the copies: no thread touches an operand.
//
// CHECK-LABEL: tile.kernel @rounded
// CHECK: tile_gpu.channel : <4, [!tile_gpu.shared<tensor<128x32xf32>, swizzle = 128>, !tile_gpu.shared<tensor<256x32xf32>, swizzle = 128>]>
// CHECK: tile_gpu.put {{.*}} tf32 :
// CHECK-NOT: tile.round_tf32
// CHECK: tile_gpu.send
//
// PTX: // rounded: 384 threads, {{[0-9]+}} bytes of shared memory, persistent
// PTX-NEXT: // tensor map: parameter 0, box 32x128, swizzle 128, to tf32
// PTX-NEXT: // tensor map: parameter 1, box 32x256, swizzle 128, to tf32
// PTX-NEXT: // tensor map: parameter 2, box 32x16, swizzle 128{{$}}
// PTX: wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {{.*}}, adds, 1, 1;
// PTX-COUNT-3: wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {{.*}}, 1, 1, 1;
!sums = tensor<128x256xf32, #tile.axes<"i", "j">>
!left = tensor<128x32xf32, #tile.axes<"i", "k">>
!right = tensor<256x32xf32, #tile.axes<"j", "k">>
tile.kernel @rounded(
    %a: memref<?x512xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x512xf32> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 512 : i64}, tile.divisors = {N = 4}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 512 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    %zeros = tile.broadcast %zero : f32 to !sums
    %sum = tile.for fold %k = "k" %c0 to %K by 32 iter_args(%acc = %zeros : !sums) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x512xf32>, (!tile.span<"i", 128>, !tile.span<"k", 32>) -> !left
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x512xf32>, (!tile.span<"j", 256>, !tile.span<"k", 32>) -> !right
      %p = tile.round_tf32 %x : !left
      %q = tile.round_tf32 %y : !right
      %next = tile.dot %p, %q over "k" acc %acc : !left, !right -> !sums
      tile.yield %next : !sums
    }
    tile.store %sum, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !sums, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 256>)
  }
  tile.return
}

// Sums of f8 are too coarse to be added to for long: those of two slots, 256 products, are made apart, and threads
// add them. An odd slot goes first.
//
// CHECK-LABEL: tile.kernel @eights
// CHECK: %[[ITEMS:.*]] = tile_gpu.channel : <4, [!tile_gpu.shared<tensor<128x128xf8E4M3FN>, swizzle = 128>, !tile_gpu.shared<tensor<192x128xf8E4M3FN>, swizzle = 128>]>
// CHECK: }, "multiply" warps 8 registers 232 {
// CHECK: %[[REST:.*]] = arith.remui
// CHECK: %[[ODD:.*]] = scf.for {{.*}} to %[[REST]]
// CHECK: tile_gpu.mma_end
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} = %[[REST]] to {{.*}} iter_args(%[[BEFORE:.*]] = %[[ODD]]) -> (tensor<128x192xf32
// CHECK: %[[FRESH:.*]] = tile_gpu.mma_fresh
// CHECK: %[[PARTS:.*]]:2 = tile_gpu.get %[[ITEMS]][%[[ITEM:[0-9]+]]]
// CHECK: %[[FIRST:.*]] = tile_gpu.mma %[[PARTS]]#0, %[[PARTS]]#1, %[[FRESH]] if %{{.*}} :
// CHECK: %[[NEXT:.*]] = arith.addi %[[ITEM]],
// CHECK: %[[OTHERS:.*]]:2 = tile_gpu.get %[[ITEMS]][%[[NEXT]]]
// CHECK: %[[BOTH:.*]] = tile_gpu.mma %[[OTHERS]]#0, %[[OTHERS]]#1, %[[FIRST]] :
// CHECK-NEXT: %[[WAITED:.*]] = tile_gpu.mma_wait %[[BOTH]] pending 1
// CHECK-NEXT: tile_gpu.release %[[ITEMS]][%[[ITEM]]]
// CHECK-NEXT: %[[TURN:.*]] = tile_gpu.mma_end %[[WAITED]]
// CHECK-NEXT: tile_gpu.release %[[ITEMS]][%[[NEXT]]]
// CHECK-NEXT: %[[ADDED:.*]] = arith.addf %[[BEFORE]], %[[TURN]]
// CHECK-NEXT: scf.yield %[[ADDED]]
// CHECK: tile_gpu.send %[[SUMS]]
//
// PTX-LABEL: .entry eights(
// Four steps of each of two slots; of 32 slots none is odd.
// PTX: wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {{.*}}, adds, 1, 1;
// PTX-COUNT-7: wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {{.*}}, 1, 1, 1;
// PTX: wgmma.wait_group.sync.aligned 1
// PTX: mbarrier.arrive
// PTX: wgmma.wait_group.sync.aligned 0
// PTX: mbarrier.arrive
// PTX: st.shared.v2.b32
// PTX: cp.async.bulk.tensor.2d.global.shared::cta
!eights = tensor<128x192xf32, #tile.axes<"i", "j">>
tile.kernel @eights(
    %a: memref<?x4096xf8E4M3FN> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x4096xf8E4M3FN> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}, tile.divisors = {N = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 192) {
    %zeros = tile.broadcast %zero : f32 to !eights
    %sum = tile.for fold %k = "k" %c0 to %K by 128 iter_args(%acc = %zeros : !eights) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<?x4096xf8E4M3FN>, (!tile.span<"i", 128>, !tile.span<"k", 128>) -> tensor<128x128xf8E4M3FN, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x4096xf8E4M3FN>, (!tile.span<"j", 192>, !tile.span<"k", 128>) -> tensor<192x128xf8E4M3FN, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<128x128xf8E4M3FN, #tile.axes<"i", "k">>, tensor<192x128xf8E4M3FN, #tile.axes<"j", "k">> -> !eights
      tile.yield %next : !eights
    }
    tile.store %sum, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !eights, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 192>)
  }
  tile.return
}

// Of 12 rows 16 are held, those of two swizzles: the instruction reads on into the other operand, for rows of the
// result that are nobody's.
//
// CHECK-LABEL: tile.kernel @few
// CHECK: tile_gpu.channel {{.*}}shared<tensor<16x64xbf16>
// CHECK: tile_gpu.mma {{.*}}tensor<64x128xf32
//
// PTX: // few: 256 threads
// PTX: // tensor map: parameter 0, box 64x16, swizzle 128
!few_rows = tensor<64x128xf32, #tile.axes<"i", "j">>
tile.kernel @few(
    %a: memref<12x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[n] -> (12, 4096)>},
    %b: memref<?x4096xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[n] -> (n, 4096)>},
    %c: memref<12x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[n] -> (12, n)>})
    attributes {dims = ["N"], tile.bound = {}} {
  %c0 = arith.constant 0 : i64
  %c12 = arith.constant 12 : i64
  %zero = arith.constant 0.0 : f32
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %c12 by 64, %j = tiles "j" %c0 to %N by 128) {
    %K = arith.constant 4096 : i64
    %zeros = tile.broadcast %zero : f32 to !few_rows
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !few_rows) {
      %x = tile.load %a at affine_map<(i, k) -> (i, k)>(%i, %k) [] <exact> : memref<12x4096xbf16>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> tensor<64x64xbf16, #tile.axes<"i", "k">>
      %y = tile.load %b at affine_map<(j, k) -> (j, k)>(%j, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> tensor<128x64xbf16, #tile.axes<"j", "k">>
      %next = tile.dot %x, %y over "k" acc %acc : tensor<64x64xbf16, #tile.axes<"i", "k">>, tensor<128x64xbf16, #tile.axes<"j", "k">> -> !few_rows
      tile.yield %next : !few_rows
    }
    tile.store %sum, %c at affine_map<(i, j) -> (i, j)>(%i, %j) [] : !few_rows, memref<12x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 128>)
  }
  tile.return
}
