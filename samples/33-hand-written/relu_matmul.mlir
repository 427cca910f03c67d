// c = max(a, 0) · b for Hopper GPUs, by hand: hand_written.tile says what it computes.
//
// Four warps fetch tiles of a and b with bulk copies; eight warps, two groups of 64 rows, multiply them. `wgmma` takes
// its left operand from registers or from shared memory: here from registers, where the maximum is taken. While one
// group reads and computes its operand, the tensor cores work for the other one.

// How the tensor cores leave 128 × 256 elements of an accumulator in the registers of eight warps, and how they take
// 128 × 64 elements of a left operand: rows and columns that bits of the numbers of register, lane and warp stand for.
#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
#left = #tile_gpu.layout<["i", "k"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], repeat = [1, 1]>
!a = !tile_gpu.shared<tensor<128x64xbf16>, swizzle = 128>
!b = !tile_gpu.shared<tensor<64x256xbf16>, swizzle = 128>
!ab = !tile_gpu.channel<4, [!a, !b]>
!x = tensor<128x64xbf16, #left>
!acc = tensor<128x256xf32, #acc>
!out = tensor<128x256xbf16, #acc>

tile.kernel @relu_matmul(
    %a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.type = "bf16", tile.shape = affine_map<()[m, n, k] -> (m, k)>},
    %b: memref<?x?xbf16> {tile.name = "b", tile.mode = "in", tile.type = "bf16", tile.shape = affine_map<()[m, n, k] -> (k, n)>},
    %c: memref<?x?xbf16> {tile.name = "c", tile.mode = "out", tile.type = "bf16", tile.shape = affine_map<()[m, n, k] -> (m, n)>})
    attributes {dims = ["M", "N", "K"], tile_gpu.warps = 12, tile_gpu.persistent, tile_gpu.group = 16} {
  %zero = arith.constant 0.0 : f32
  %nothing = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %k = tile.axis %c0 to %c64 : !tile.span<"k", 64>
  %padded = arith.addi %K, %c63 : i64
  %tiles = arith.divui %padded, %c64 : i64
  %ab = tile_gpu.channel : !ab
  tile.parallel (%i = tiles "i" %c0 to %M by 128, %j = tiles "j" %c0 to %N by 256) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // A CTA runs program after program, and numbers the items of the channel through all of them.
      %first = tile_gpu.position %ab : !ab
      scf.for %t = %c0 to %tiles step %c1 : i64 {
        %n = arith.addi %first, %t : i64
        tile_gpu.put %ab[%n] from %a, %b
          at [affine_map<(i, j, t) -> (i, t * 64)>, affine_map<(i, j, t) -> (t * 64, j)>](%i, %j, %t)
          : !ab from memref<?x?xbf16>, memref<?x?xbf16> at !tile.span<"i", 128>, !tile.span<"j", 256>, i64
      }
      tile_gpu.advance %ab by %tiles : !ab
    }, "multiply" warps 8 registers 232 {
      %first = tile_gpu.position %ab : !ab
      %floor = tile.broadcast %nothing : bf16 to !x
      %zeros = tile.broadcast %zero : f32 to !acc
      %begun = tile_gpu.mma_begin %zeros : !acc to !tile_gpu.pending<!acc>
      %all = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %begun) -> (!tile_gpu.pending<!acc>) : i64 {
        %n = arith.addi %first, %t : i64
        %ta, %tb = tile_gpu.get %ab[%n] : !ab to !a, !b
        %read = tile_gpu.read %ta : !a to !x
        %x = arith.maximumf %read, %floor : !x
        %started = tile_gpu.mma %x, %tb by_columns, %sum : !x, !b, !tile_gpu.pending<!acc>
        // The registers of %x belong to the tensor cores until these are done.
        %done = tile_gpu.mma_wait %started pending 0 : !tile_gpu.pending<!acc>
        tile_gpu.release %ab[%n] : !ab
        scf.yield %done : !tile_gpu.pending<!acc>
      }
      tile_gpu.advance %ab by %tiles : !ab
      %acc = tile_gpu.mma_end %all : !tile_gpu.pending<!acc> to !acc
      %rounded = arith.truncf %acc : !acc to !out
      tile_gpu.send %rounded to %c at affine_map<(i, j) -> (i, j)>(%i, %j)
        : !out to memref<?x?xbf16> at !tile.span<"i", 128>, !tile.span<"j", 256>
    }
  }
  tile.return
}
