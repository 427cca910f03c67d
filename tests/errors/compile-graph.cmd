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
kernel line(a: bf16[M, K], b: bf16[K, N]) -> (c: bf16[M, N]) {
    parallel i in tiles(M), j in tiles(N) { c[i, j] = bf16(dot(a[i, :], b[:, j], K)) }
}
graph lines(x: bf16[M, K], w: bf16[K, L], v: bf16[L, N]) -> (y: bf16[M, N]) {
    y = line(line(x, w), v)
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
# The graph's dims are not the kernel's.
D="--dim M=64 --dim K=64 --dim L=64 --dim N=32"
tilec compile layer.tile:lines $D --emit=ptx 2>&1 | grep "^// line"
tilec compile layer.tile:lines --dim M=64 --dim L=64 --emit=ptx | head -1
