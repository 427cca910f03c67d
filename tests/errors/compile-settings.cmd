product() {
  cat > p.tile <<EOT
kernel product(a: bf16[M, K], b: bf16[K, N]) -> (c: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) {
            acc += dot(a[i, k], b[k, j], k)
        }
        c[i, j] = acc
    }
} schedule $2
EOT
  tilec compile p.tile --emit=ptx --target=$1 --dim M=4096 --dim N=4096 --dim K=4096 2>&1 >p.ptx
  grep -h "^// product" p.ptx
}
product sm_80 "{ cluster = 3 }"
product sm_80 "{ order = grouped(65536) }"
product sm_80 "{ order = spiral }"
product sm_80 "{ split k = 4; cluster = 2; order = grouped(4); persistent; specialize }"
product sm_90a "{ split k = 4; cluster = 2; order = grouped(4); warps = 8; persistent }"
product sm_90a "{ i = 128; j = 80; k = 64; split k = 8; order = rowmajor }"
product sm_90a "cuda { i = 512; j = 512; k = 64 }"
product sm_80 "{ i = 256; j = 256; k = 64 }"
product sm_80 "cuda { i = 128; j = 256; k = 256; stages = 2 }"
product sm_80 "{ stages = many }"
product sm_80 "{ persistent = 3 }"
product sm_80 "{ order = 4 }"
product sm_90a "{ stages = -3; warps = -4 }"
product sm_90a "{ order = grouped(-2) }"
product sm_90a "cuda { k = 1024 }"
# Only rows could be fewer, which is not enough: they stay.
product sm_80 "cuda { j = 256; k = 1024 }"
product sm_90a "cuda { i = 100000 }"
product sm_90a "{ i = 100000 }"
product sm_90a "cuda { i = 128; j = 256; k = 128; stages = 2 }"
tilec compile p.tile --set stages=0
tilec compile p.tile --set product.warps=-1
tilec compile p.tile --set i=0
