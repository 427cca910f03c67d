// RUN: tile-opt %s -verify-diagnostics -split-input-file

// What the verifiers of the tile_gpu dialect refuse.

// expected-error@+1 {{a layout has 5 bits of lanes, and at most 5 of warps}}
#short = #tile_gpu.layout<["i"], register = [], lane = [[1], [2]], warp = [], repeat = [1]>

// -----

// expected-error@+1 {{steps have to be independent and to reach all of the atom}}
#twice = #tile_gpu.layout<["i"], register = [[1]], lane = [[1], [2], [4], [8], [16]], warp = [], repeat = [1]>

// -----

// expected-error@+1 {{steps have to be independent and to reach all of the atom}}
#hole = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [8], [0], [0]], warp = [], repeat = [1]>

// -----

// expected-error@+1 {{a step has one coordinate an axis}}
#rank = #tile_gpu.layout<["i", "j"], register = [[1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [], repeat = [1, 1]>

// -----

// expected-error@+1 {{a layout repeats its atom 1 to 2^24 times}}
#none = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], repeat = [0]>

// -----

#rows = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [], repeat = [1]>
tile.kernel @k(%x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 32) {
    %t = tile.load %x at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 32>) -> tensor<32xf32, #rows>
    // expected-error@+1 {{changes more than the layout}}
    %c = tile_gpu.convert %t : tensor<32xf32, #rows> to tensor<32xf16, #rows>
  }
  tile.return
}
