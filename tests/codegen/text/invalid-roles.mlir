// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifiers of roles, channels and tensor cores refuse.

// expected-error@+1 {{a matrix in shared memory has 8 to 256 rows, a multiple of 8}}
!rows = !tile_gpu.shared<tensor<12x64xbf16>, swizzle = 128>

// -----

// expected-error@+1 {{columns are whole panels of 128 bytes}}
!columns = !tile_gpu.shared<tensor<16x40xbf16>, swizzle = 128>

// -----

// expected-error@+1 {{a panel has 128, 64 or 32 bytes a row}}
!panel = !tile_gpu.shared<tensor<16x64xbf16>, swizzle = 96>

// -----

// expected-error@+1 {{a channel has 1 to 64 slots}}
!none = !tile_gpu.channel<0, [!tile_gpu.shared<tensor<16x64xbf16>, swizzle = 128>]>

// -----

// expected-error@+1 {{what is pending is a tile with a layout}}
!bare = !tile_gpu.pending<tensor<64x64xf32>>

// -----

!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @parts(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // expected-error@+1 {{needs one source and one map for each of the 1 parts}}
      tile_gpu.put %items[%c0] from %a, %a at [affine_map<(i) -> (i, 0)>](%i) : !items from memref<?x?xbf16>, memref<?x?xbf16> at !tile.span<"i", 64>
    }, "read" warps 4 registers 40 {
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

!part = !tile_gpu.shared<tensor<64x64xf32>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @elements(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // expected-error@+1 {{part 0 has other elements than its source}}
      tile_gpu.put %items[%c0] from %a at [affine_map<(i) -> (i, 0)>](%i) : !items from memref<?x?xbf16> at !tile.span<"i", 64>
    }, "read" warps 4 registers 40 {
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @unreleased(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  // expected-error@+1 {{is filled, and no role releases its items}}
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "load" warps 4 registers 40 {
      tile_gpu.put %items[%c0] from %a at [affine_map<(i) -> (i, 0)>](%i) : !items from memref<?x?xbf16> at !tile.span<"i", 64>
    }, "read" warps 4 registers 40 {
    }
  }
  tile.return
}

// -----

tile.kernel @registers() attributes {dims = ["M"], tile_gpu.warps = 12} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    // expected-error@+1 {{asks for 65536 registers; a CTA of 12 warps has 64512}}
    tile_gpu.roles "load" warps 4 registers 32 {
    }, "multiply" warps 8 registers 240 {
    }
  }
  tile.return
}

// -----

tile.kernel @warps() attributes {dims = ["M"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    // expected-error@+1 {{has 12 warps, and the kernel 8}}
    tile_gpu.roles "load" warps 4 registers 40 {
    }, "multiply" warps 8 registers 224 {
    }
  }
  tile.return
}

// -----

#rows = #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
!sum = tensor<64x64xf32, #rows>
tile.kernel @layout(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %t = tile_gpu.get %items[%c0] : !items to !part
      %zeros = tile.broadcast %zero : f32 to !sum
      %acc = tile_gpu.mma_begin %zeros : !sum to !tile_gpu.pending<!sum>
      // expected-error@+1 {{needs a result with register = }}
      %next = tile_gpu.mma %t, %t, %acc : !part, !part, !tile_gpu.pending<!sum>
    }
  }
  tile.return
}

// -----

// Blocks of a cluster: what each gets is said of every part.
!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
#at = affine_map<(i, k) -> (i, k)>
tile.kernel @unsaid(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 8, tile_gpu.blocks = 2} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "load" warps 4 registers 40 {
      // expected-error@+1 {{says for each part what the blocks of a cluster get: split}}
      tile_gpu.put %items[%c0] from %a at [#at](%i, %c0) split [0, -1] : !items from memref<?x?xbf16> at !tile.span<"i", 64>, i64
    }, "multiply" warps 4 registers 232 {
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

// What bulk copies store is as tensor cores leave it.
#rows = #tile_gpu.layout<["i", "j"], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[0, 32], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
#at = affine_map<(i, j) -> (i, j)>
!sum = tensor<64x64xf32, #rows>
tile.kernel @sent(%c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %zeros = tile.broadcast %zero : f32 to !sum
      // expected-error@+1 {{takes a tile as tensor cores leave it}}
      tile_gpu.send %zeros to %c at #at(%i, %j) : !sum to memref<?x?xf32> at !tile.span<"i", 64>, !tile.span<"j", 64>
    }
  }
  tile.return
}

// -----

#whole = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 0]], repeat = [1, 1]>
#own = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 32]], repeat = [1, 1]>
!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @again(%c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4, tile_gpu.blocks = 2, tile_gpu.persistent} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %part = tile.broadcast %zero : f32 to tensor<64x64xf32, #whole>
      // expected-error@+1 {{stands in a role of clusters that run one program each}}
      %all = tile_gpu.combine %part through %items : tensor<64x64xf32, #whole> through !items to tensor<64x64xf32, #own>
    }
  }
  tile.return
}

// -----

#whole = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 0]], repeat = [1, 1]>
#own = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 32]], repeat = [1, 1]>
!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @whole(%c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4, tile_gpu.blocks = 2} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %part = tile.broadcast %zero : f32 to tensor<64x64xf32, #whole>
      // expected-error@+1 {{takes sums as tensor cores leave them, and gives each block its columns}}
      %all = tile_gpu.combine %part through %items : tensor<64x64xf32, #whole> through !items to tensor<64x64xf32, #whole>
    }
  }
  tile.return
}

// -----

#whole = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 0]], repeat = [1, 1]>
#own = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = [[0, 32]], repeat = [1, 1]>
!items = !tile_gpu.channel<1, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @room(%c: memref<?x?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m, m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4, tile_gpu.blocks = 2} {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64, %j = tiles "j" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %part = tile.broadcast %zero : f32 to tensor<64x64xf32, #whole>
      // expected-error@+1 {{needs 16384 bytes of slots}}
      %all = tile_gpu.combine %part through %items : tensor<64x64xf32, #whole> through !items to tensor<64x64xf32, #own>
    }
  }
  tile.return
}

// -----

!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @both(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    // expected-error@+1 {{a role that puts is one thread's: it gets nothing, and has no tiles}}
    tile_gpu.roles "both" warps 4 registers 40 {
      tile_gpu.put %items[%c0] from %a at [affine_map<(i) -> (i, 0)>](%i) : !items from memref<?x?xbf16> at !tile.span<"i", 64>
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

#row = #tile_gpu.layout<["i", "j"], register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = [[1, 0], [2, 0], [4, 0]], repeat = [8, 1]>
#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @reads(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c64 : !tile.span<"j", 64>
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %t = tile_gpu.get %items[%c0] : !items to !part
      // expected-error@+1 {{reads 16-bit floats as `mma` takes its first operand}}
      %x = tile_gpu.read %t : !part to tensor<64x64xbf16, #row>
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
tile.kernel @extents(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c32 : !tile.span<"j", 32>
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %t = tile_gpu.get %items[%c0] : !items to !part
      // expected-error@+1 {{gives a tile of 64 × 64, of the same elements}}
      %x = tile_gpu.read %t : !part to tensor<64x32xbf16, #acc>
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
!part = !tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>
!items = !tile_gpu.channel<2, [!part]>
!acc = tensor<64x64xf32, #acc>
tile.kernel @single(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c64 : !tile.span<"j", 64>
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "multiply" warps 4 registers 232 {
      %t = tile_gpu.get %items[%c0] : !items to !part
      %zeros = tile.broadcast %zero : f32 to !acc
      %begun = tile_gpu.mma_begin %zeros : !acc to !tile_gpu.pending<!acc>
      // expected-error@+1 {{multiplies bf16, f16, f8 or tf32 and adds to f32, or i8 and adds to i32}}
      %done = tile_gpu.mma %zeros, %t, %begun : !acc, !part, !tile_gpu.pending<!acc>
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
tile.kernel @parts(%c: memref<?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c16 : !tile.span<"j", 16>
  %lane = tile.axis %c0 to %c4 : !tile.span<"lane", 4>
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    %x = tile.broadcast %zero : f32 to tensor<64x16xf32, #acc>
    // expected-error@+1 {{gives 4 elements along "lane", with register = [[8, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]}}
    %s = tile_gpu.partial_reduce <add> %x over "j" into "lane" : tensor<64x16xf32, #acc> -> tensor<64x16xf32, #acc>
  }
  tile.return
}

// -----

!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @unknown(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "read" warps 4 registers 40 {
      // expected-error@+1 {{is known in a role that advances the channel}}
      %n = tile_gpu.position %items : !items
      tile_gpu.release %items[%n] : !items
    }
  }
  tile.return
}

// -----

!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @again(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "read" warps 4 registers 40 {
      tile_gpu.release %items[%c0] : !items
      tile_gpu.advance %items by %c0 : !items
      // expected-error@+1 {{advances a channel that the role has advanced before}}
      tile_gpu.advance %items by %c0 : !items
    }
  }
  tile.return
}

// -----

tile.kernel @turns(%a: memref<?xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "work" warps 4 registers 40 {
      // expected-error@+1 {{stands in a role of 8 or 16 warps}}
      tile_gpu.await_turn
      tile_gpu.pass_turn
    }
  }
  tile.return
}

// -----

tile.kernel @passes(%a: memref<?xf32> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    // expected-error@+1 {{has a role that awaits turns and never passes one on, or the reverse}}
    tile_gpu.roles "work" warps 8 registers 40 {
      tile_gpu.pass_turn
    }
  }
  tile.return
}

// -----

!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @alone(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 8} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  // expected-error@+1 {{is advanced by one role, and used by another that doesn't}}
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "load" warps 4 registers 40 {
      tile_gpu.put %items[%c0] from %a at [affine_map<(i) -> (i, 0)>](%i) : !items from memref<?x?xbf16> at !tile.span<"i", 64>
      tile_gpu.advance %items by %c0 : !items
    }, "read" warps 4 registers 40 {
      tile_gpu.release %items[%c0] : !items
    }
  }
  tile.return
}

// -----

!items = !tile_gpu.channel<2, [!tile_gpu.shared<tensor<64x64xbf16>, swizzle = 128>]>
tile.kernel @late(%a: memref<?x?xbf16> {tile.name = "a", tile.mode = "in", tile.shape = affine_map<()[m, k] -> (m, k)>})
    attributes {dims = ["M", "K"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %M = tile.dim "M"
  %items = tile_gpu.channel : !items
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    tile_gpu.roles "read" warps 4 registers 40 {
      tile_gpu.advance %items by %c0 : !items
      // expected-error@+1 {{stands behind the op that advances the channel}}
      %n = tile_gpu.position %items : !items
      tile_gpu.release %items[%n] : !items
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.layout<["i", "j"], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], repeat = [1, 1]>
tile.kernel @kinds(%c: memref<?xf32> {tile.name = "c", tile.mode = "out", tile.shape = affine_map<()[m] -> (m)>})
    attributes {dims = ["M"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  %zero = arith.constant 0.0 : f32
  %M = tile.dim "M"
  %j = tile.axis %c0 to %c16 : !tile.span<"j", 16>
  %lane = tile.axis %c0 to %c16 : !tile.span<"lane", 16>
  tile.parallel (%i = tiles "i" %c0 to %M by 64) {
    %x = tile.broadcast %zero : f32 to tensor<64x16xf32, #acc>
    // expected-error@+1 {{doesn't combine elements of 'f32'}}
    %s = tile_gpu.partial_reduce <and> %x over "j" into "lane" : tensor<64x16xf32, #acc> -> tensor<64x16xf32, #acc>
  }
  tile.return
}
