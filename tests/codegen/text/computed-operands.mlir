// RUN: tile-opt %s --tile-gpu-build-pipeline | FileCheck %s
// RUN: tile-opt %s --tile-gpu-build-pipeline | tile-translate --tile-gpu-to-ptx | FileCheck %s --check-prefix=PTX

// A product's left operand that is computed from what bulk copies bring: the warps that multiply read it into
// registers as tensor cores take it from there, and compute it while the product before still runs: by twos, as that one
// reads the other registers.

// max(a, 0) · b: 0 where a is 0, so what copies bring from beyond the end adds nothing.
//
// CHECK-LABEL: tile.kernel @relu
// CHECK: tile_gpu.channel : <4, [!tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>, !tile_gpu.shared<tensor<64x256xbf16>, swizzle = 128>]>
// CHECK: tile.axis {{.*}} : <"k", 64>
// CHECK: tile_gpu.roles "load" warps 4 registers 40 {
// CHECK: }, "multiply" warps 8 registers 232 {
// CHECK-NOT: tile.load
// CHECK: scf.for {{.*}} step %c2{{.*}} iter_args(%[[RUNNING:.*]] = %{{.*}})
// CHECK: %[[PARTS:.*]]:2 = tile_gpu.get
// CHECK-NEXT: %[[X:.*]] = tile_gpu.read %[[PARTS]]#0
// CHECK-NEXT: %[[Y:.*]] = arith.maximumf %[[X]]
// CHECK-NEXT: %[[DONE:.*]] = tile_gpu.mma_wait %[[RUNNING]] pending 0
// CHECK: tile_gpu.release
// CHECK-NEXT: %[[STARTED:.*]] = tile_gpu.mma %[[Y]], %[[PARTS]]#1 by_columns, %[[DONE]] :
// CHECK: %[[MORE:.*]]:2 = tile_gpu.get
// CHECK-NEXT: tile_gpu.read %[[MORE]]#0
// CHECK: tile_gpu.mma_wait %[[STARTED]] pending 0
//
// PTX: // relu: 384 threads, 230400 bytes of shared memory, persistent, starts early
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
#at = affine_map<(x, y) -> (x, y)>
!acc = tensor<128x256xf32, #tile.axes<"i", "j">>
!x = tensor<128x64xbf16, #tile.axes<"i", "k">>
!y = tensor<64x256xbf16, #tile.axes<"k", "j">>
tile.kernel @relu(
    %a: memref<?x4096xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<4096x?xbf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (k, n)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {K = 4096 : i64}, tile.divisors = {N = 16}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = arith.constant 4096 : i64
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    %zeros = tile.broadcast %zero : f32 to !acc
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !acc) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x4096xbf16>, (!tile.span<"i", 128>, !tile.span<"k", 64>) -> !x
      %floor = tile.broadcast %nothing : bf16 to !x
      %max = arith.maximumf %x, %floor : !x
      %y = tile.load %b at #at(%k, %j) [] <exact> : memref<4096x?xbf16>, (!tile.span<"k", 64>, !tile.span<"j", 256>) -> !y
      %next = tile.dot %max, %y over "k" acc %acc : !x, !y -> !acc
      tile.yield %next : !acc
    }
    tile.store %sum, %c at #at(%i, %j) [] : !acc, memref<?x?xf32>, (!tile.span<"i", 128>, !tile.span<"j", 256>)
  }
  tile.return
}

// (x / yᵀ) g · b, of two tensors, one of which lies across, and of a vector: all boxes are parts of a stage, and the vector the
// warps load themselves, nothing from beyond its end. 0 / 0 is no number: the last block stands apart where it is not whole, as the first one does, and what is beyond the end is
// cut off there.
//
// CHECK-LABEL: tile.kernel @quotient
// CHECK: tile_gpu.channel {{.*}}[!tile_gpu.shared<tensor<64x64xf16>, swizzle = 128>, !tile_gpu.shared<tensor<64x64xf16>, swizzle = 128>, !tile_gpu.shared<tensor<128x64xf16>, swizzle = 128>]>
// CHECK: tile_gpu.put {{.*}} from %arg0, %arg1, %arg3
// CHECK: }, "multiply"
// CHECK: scf.for {{.*}} step %c2
// CHECK-NOT: arith.select
// CHECK: }
// CHECK: scf.if
// CHECK: tile.load %arg2 at #{{.*}}(%{{.*}}) [%{{.*}}] <pad> else
// CHECK: %[[PARTS:.*]]:3 = tile_gpu.get
// CHECK-DAG: %[[X:.*]] = tile_gpu.read %[[PARTS]]#0 :
// CHECK-DAG: %[[Y:.*]] = tile_gpu.read %[[PARTS]]#1 by_columns :
// CHECK: %[[Z:.*]] = tile.broadcast %[[Y]]
// CHECK-NEXT: arith.divf %[[X]], %[[Z]]
// CHECK: arith.cmpi slt
// CHECK: %[[CUT:.*]] = arith.select
// CHECK: tile_gpu.mma %[[CUT]], %[[PARTS]]#2,
//
// PTX: // quotient: 256 threads
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16
// PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
!sums = tensor<64x128xf32, #tile.axes<"i", "j">>
!rows = tensor<64x64xf16, #tile.axes<"i", "k">>
!turned = tensor<64x64xf16, #tile.axes<"k", "i">>
!right = tensor<128x64xf16, #tile.axes<"j", "k">>
!vector = tensor<64xf16, #tile.axes<"k">>
tile.kernel @quotient(
    %x: memref<?x?xf16> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %y: memref<?x?xf16> {tile.name = "y", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (k, m)>},
    %g: memref<?xf16> {tile.name = "g", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (k)>},
    %b: memref<?x?xf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {}, tile.divisors = {M = 8, K = 8}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !sums
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !sums) {
      %p = tile.load %x at #at(%i, %k) [] <exact> : memref<?x?xf16>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> !rows
      %q = tile.load %y at #at(%k, %i) [] <exact> : memref<?x?xf16>, (!tile.span<"k", 64>, !tile.span<"i", 64>) -> !turned
      %turned = tile.broadcast %q : !turned to !rows
      %quotient = arith.divf %p, %turned : !rows
      %s = tile.load %g at affine_map<(k) -> (k)>(%k) [] <exact> : memref<?xf16>, (!tile.span<"k", 64>) -> !vector
      %scale = tile.broadcast %s : !vector to !rows
      %scaled = arith.mulf %quotient, %scale : !rows
      %r = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> !right
      %next = tile.dot %scaled, %r over "k" acc %acc : !rows, !right -> !sums
      tile.yield %next : !sums
    }
    tile.store %sum, %c at #at(%i, %j) [] : !sums, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 128>)
  }
  tile.return
}

// a r · b, of a vector along the rows: it is loaded before the loop. An element of it may be infinite, and 0 times that is no
// number; so the last block is cut off here, too.
//
// CHECK-LABEL: tile.kernel @rows
// CHECK: }, "multiply"
// CHECK: tile.load %arg1 {{.*}} <exact>
// CHECK: scf.if
// CHECK: arith.select
// CHECK: scf.for {{.*}} step %c2
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.if
// CHECK: arith.select
// CHECK: tile_gpu.mma
!scales = tensor<64xf16, #tile.axes<"i">>
tile.kernel @rows(
    %a: memref<?x?xf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %r: memref<?xf16> {tile.name = "r", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (m)>},
    %b: memref<?x?xf16> {tile.name = "b", tile.mode = "in", tile.shape = affine_map<()[m, n, k] -> (n, k)>},
    %c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile.bound = {}, tile.divisors = {K = 8}} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %N by 128) {
    %zeros = tile.broadcast %zero : f32 to !sums
    %sum = tile.for fold %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros : !sums) {
      %x = tile.load %a at #at(%i, %k) [] <exact> : memref<?x?xf16>, (!tile.span<"i", 64>, !tile.span<"k", 64>) -> !rows
      %s = tile.load %r at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xf16>, (!tile.span<"i", 64>) -> !scales
      %scale = tile.broadcast %s : !scales to !rows
      %scaled = arith.mulf %x, %scale : !rows
      %y = tile.load %b at #at(%j, %k) [] <exact> : memref<?x?xf16>, (!tile.span<"j", 128>, !tile.span<"k", 64>) -> !right
      %next = tile.dot %scaled, %y over "k" acc %acc : !rows, !right -> !sums
      tile.yield %next : !sums
    }
    tile.store %sum, %c at #at(%i, %j) [] : !sums, memref<?x?xf32>, (!tile.span<"i", 64>, !tile.span<"j", 128>)
  }
  tile.return
}
