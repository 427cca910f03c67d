cat > layer.tile <<'END'
kernel product(a: bf16[M, K], b: bf16[K, N]) -> (c: bf16[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
        c[i, j] = bf16(acc)
    }
}
graph layer(x: bf16[M, K], w: bf16[K, N], b: bf16[N]) -> (y: bf16[M, N]) {
    y = max(product(x, w) + b, 0)
}
graph two(x: bf16[M, K], w: bf16[K, N], v: bf16[N, L]) -> (y: bf16[M, L]) {
    y = product(product(x, w), v)
}
END
D="--dim M=4096 --dim N=4096 --dim K=4096"
# A graph that becomes one kernel is compiled as one; whose parameters no source has in order.
tilec compile layer.tile:layer $D --emit=ptx | head -2
tilec compile layer.tile:layer $D --emit=gpu | grep -c tile_gpu.send
tilec compile layer.tile:layer $D --emit=llvm --target=x86-64-v3 | head -1
tilec compile layer.tile:layer $D --emit=ptx --fuse=off
tilec compile layer.tile:two $D --emit=ptx
