// RUN: tile-opt %s -verify-diagnostics -split-input-file -tile-gpu-verify-layouts

// What kernels on the tile_gpu level have to agree on beyond single ops.

#rows = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], repeat = [1]>
// expected-error@+1 {{needs the attribute tile_gpu.warps}}
tile.kernel @no_warps() attributes {dims = []} {
  tile.parallel () {
  }
  tile.return
}

// -----

#axes = #tile.axes<"i">
tile.kernel @no_layout() attributes {dims = [], tile_gpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  tile.parallel (%i = tiles "i" %c0 to %c8 by 8) {
    // expected-error@+1 {{has a tile without a layout}}
    %t = tile.coords %i : !tile.span<"i", 8> -> tensor<8xi64, #axes>
  }
  tile.return
}

// -----

#two = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32]], repeat = [1]>
tile.kernel @other_warps() attributes {dims = [], tile_gpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  tile.parallel (%i = tiles "i" %c0 to %c8 by 8) {
    // expected-error@+1 {{has a layout of another number of warps than run it}}
    %t = tile.coords %i : !tile.span<"i", 8> -> tensor<8xi64, #two>
  }
  tile.return
}

// -----

#rows = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], repeat = [1]>
tile.kernel @too_small() attributes {dims = [], tile_gpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : i64
  %c40 = arith.constant 40 : i64
  tile.parallel (%i = tiles "i" %c0 to %c40 by 40) {
    // expected-error@+1 {{has a tile that its layout does not cover}}
    %t = tile.coords %i : !tile.span<"i", 40> -> tensor<40xi64, #rows>
  }
  tile.return
}

// -----

// Lanes along i hold one element each, those of the broadcast are copies of it.
#rows = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [0], [0]], warp = [], repeat = [1]>
#square = #tile_gpu.layout<["i", "j"], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [], repeat = [1, 1]>
tile.kernel @broadcast() attributes {dims = [], tile_gpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  tile.parallel (%i = tiles "i" %c0 to %c8 by 8, %j = tiles "j" %c0 to %c4 by 4) {
    %t = tile.coords %i : !tile.span<"i", 8> -> tensor<8xi64, #rows>
    // expected-error@+1 {{broadcasts a tile that is not held as a part of its result}}
    %b = tile.broadcast %t : tensor<8xi64, #rows> to tensor<8x4xi64, #square>
  }
  tile.return
}

// -----

#rows = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [0], [0]], warp = [], repeat = [1]>
#part = #tile_gpu.layout<["i"], register = [], lane = [[0], [0], [1], [2], [4]], warp = [], repeat = [1]>
#square = #tile_gpu.layout<["i", "j"], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [], repeat = [1, 1]>
tile.kernel @reduce() attributes {dims = [], tile_gpu.warps = 1 : i64} {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  tile.parallel (%i = tiles "i" %c0 to %c8 by 8, %j = tiles "j" %c0 to %c4 by 4) {
    %t = tile.coords %i : !tile.span<"i", 8> -> tensor<8xi64, #part>
    %b = tile.broadcast %t : tensor<8xi64, #part> to tensor<8x4xi64, #square>
    // expected-error@+1 {{gives a tile that is not held as a part of its operand}}
    %s = tile.reduce <add> %b over ["j"] : tensor<8x4xi64, #square> -> tensor<8xi64, #rows>
  }
  tile.return
}
