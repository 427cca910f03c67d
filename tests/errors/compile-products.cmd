P="$KERNELS/product.tile"
D="--dim M=512 --dim N=512 --dim K=512"
tilec compile $P --entry=product --bind T=bf16 $D --emit=ptx | grep -o "wgmma.mma_async.sync.aligned" | sort -u
tilec compile $P --entry=product --bind T=bf16 --dim M=512 --dim N=100 --dim K=512 --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=bf16 --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=f32 $D --emit=ptx -o k.ptx && head -1 k.ptx
tilec compile $P --entry=product --bind T=bf16 $D --emit=ptx --target=sm_80 -o k.ptx && head -1 k.ptx && grep -o "mma.sync[^ ]*\|ldmatrix[^ ]*" k.ptx | sort -u
tilec compile $P --entry=product --bind T=bf16 $D --set i=128 --set j=256 --set k=256 --emit=ptx -o k.ptx && head -1 k.ptx
# Nor by single warps, which shows only when code is made: on either target.
tilec compile $P --entry=product --bind T=bf16 $D --set i=64 --set j=64 --set k=512 --emit=ptx -o k.ptx && grep -c "mma" k.ptx
tilec compile $P --entry=product --bind T=bf16 $D --set i=64 --set j=64 --set k=512 --emit=ptx --target=sm_80 -o k.ptx && grep -c "mma" k.ptx
tilec compile $P --entry=staged $D --emit=ptx
tilec compile $P --entry=ordered $D --emit=ptx
# Settings that are numbers, as sizes are given; they come before the schedule's.
cat > set.tile <<'END'
kernel product(a: bf16[M, K], b: bf16[K, N]) -> (c: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
        c[i, j] = acc
    }
} schedule { stages = 3 } schedule cuda { stages = 2 }
END
product="tilec compile set.tile --dim M=512 --dim N=512 --dim K=512 --emit=gpu"
$product | grep -o 'channel : <[0-9]*' | sort | uniq -c
$product --set stages=4 | grep -o 'channel : <[0-9]*' | sort | uniq -c
$product --set stages=40
$product --set warps=3
$product --set split=4 | grep -o "tile_gpu.blocks = [0-9]*\|tile_gpu.combine" | sort | uniq -c
$product --set split=3
sed 's/schedule { stages = 3 } schedule cuda { stages = 2 }/schedule cuda { i = 128; j = 256; k = 64; stages = 4 }/' set.tile > large.tile
tilec compile large.tile --dim M=512 --dim N=512 --dim K=512 --emit=ptx --target=sm_80
$product --set split=4 --set i=128 --set j=256 --set stages=2
$product --set order=3
tilec run set.tile --in a=ones:4x4:bf16 --in b=ones:4x4:bf16 --set warps=4 --set stages=3 | tail -5 | head -4
sed 's/schedule cuda {/schedule {/' large.tile > any.tile
tilec compile any.tile --dim M=512 --dim N=512 --dim K=512 --emit=ptx --target=sm_80 -o k.ptx && head -1 k.ptx
# Far too large: the hint halves as often as it takes.
sed 's/schedule { stages = 3 } schedule cuda { stages = 2 }/schedule cuda { i = 4096; j = 8192 }/' set.tile > huge.tile
tilec compile huge.tile --dim M=512 --dim N=512 --dim K=512 --emit=ptx
