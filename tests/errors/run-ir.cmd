# Kernels of IR: what is no IR, which of several, who can run it, and what it is compared with.
cat > roles.mlir <<'END'
#row = #tile_gpu.layout<["i"], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], repeat = [1]>
tile.kernel @twice(
    %x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.type = "f32", tile.shape = affine_map<()[n] -> (n)>},
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.type = "f32", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 128) {
    %v = tile.load %x at affine_map<(i) -> (i)>(%i) [] <exact> : memref<?xf32>, (!tile.span<"i", 128>) -> tensor<128xf32, #row>
    %w = arith.addf %v, %v : tensor<128xf32, #row>
    tile.store %w, %y at affine_map<(i) -> (i)>(%i) [] : tensor<128xf32, #row>, memref<?xf32>, (!tile.span<"i", 128>)
  }
  tile.return
}
END
cat > twice.tile <<'END'
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] + x[i] }
}
kernel other(x: f64[N]) -> (y: f64[N]) {
    parallel i in tiles(N) { y[i] = x[i] }
}
END
in="--in x=randn:5:f32:1"
tilec run roles.mlir $in
tilec run roles.mlir $in --device=cuda --check
tilec run roles.mlir $in --device=cuda --set i=64
tilec run roles.mlir $in --device=cuda --against twice.tile:twice
tilec run roles.mlir $in --device=cuda --check --against twice.tile:other
tilec run roles.mlir --device=cuda
tilec run roles.mlir:thrice $in
tilec run nowhere.mlir
printf 'kernel x' > text.mlir && tilec run text.mlir
printf '' > empty.mlir && tilec run empty.mlir
sed 's/arith.addf %v, %v/arith.addf %v, %u/' roles.mlir > unknown.mlir && tilec run unknown.mlir $in
sed 's/tile.name = "x", //' roles.mlir > unnamed.mlir && tilec run unnamed.mlir $in
(cat roles.mlir; grep -v '^#row' roles.mlir | sed 's/@twice/@again/') > both.mlir && tilec run both.mlir $in
tilec compile roles.mlir --emit=ast
tilec compile roles.mlir --emit=artifact -o r.tileart
tilec compile roles.mlir --emit=asm
tilec compile roles.mlir --emit=ptx --set i=64
tilec compile roles.mlir --emit=ptx | head -1
# As tilec prints them they run on a processor, too; and two kernels of sources can be compared.
tilec compile twice.tile:twice -o twice.mlir && tilec run twice.mlir $in --check | grep check
tilec run twice.tile:twice $in --check --against twice.mlir | grep check
tilec run twice.tile:twice $in --check --against twice.tile:twice | grep check
# Roles are for one target.
cat > channel.mlir <<'END'
tile.kernel @roles(
    %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.type = "f32", tile.shape = affine_map<()[n] -> (n)>})
    attributes {dims = ["N"], tile_gpu.warps = 4} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 128) {
    tile_gpu.roles "work" warps 4 registers 128 {
    }
  }
  tile.return
}
END
tilec compile channel.mlir --emit=ptx --target=sm_80
# What a source guarantees, and text doesn't.
try() { sed "$1" roles.mlir > wrong.mlir; tilec compile wrong.mlir --emit=ptx 2>&1 | head -1; }
try 's/tile.type = "f32"/tile.type = "f64"/'
try 's/tile.type = "f32"/tile.type = "zzz"/'
try 's/tile.mode = "out"/tile.mode = "wat"/'
try 's/tile.name = "y"/tile.name = "x"/'
try 's/tile.name = "y"/tile.name = "y z"/'
try 's/tile.name = "y"/tile.default = "q", &/'
try 's/dims = \["N"\]/dims = ["n m"]/'
try 's/tile_gpu.warps = 4/tile_gpu.warps = 0/'
try 's/tile_gpu.warps = 4/tile_gpu.warps = "x"/'
try 's/tile_gpu.warps = 4/tile_gpu.other = 4/'
try 's/%y: memref<?xf32>/%y: memref<4xf32>/'
head -c 3000 /dev/zero | tr '\0' '[' > deep.mlir && tilec compile deep.mlir
tilec compile roles.mlir --emit=ptx --dim N=5
tilec run roles.mlir $in --device=cuda --sweep-tiles
