# Calls of tilec bench that can't be measured.
cat > k.tile <<'END'
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
kernel sum2(a: f32[N], b: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = a[i] + b[i] }
}
map more(x: f32) -> f32 = x + 1
graph both(x: f32[N]) -> (y: f32[N]) {
    y = more(twice(x))
}
END
tilec bench
tilec bench k.tile:twice
tilec bench k.tile:twice --in x=randn:64:f32 --device=h20
tilec bench k.tile:twice --in x=randn:64:f32 --device=interp
tilec bench k.tile:twice --in x=randn:64:f32 --device=missing.json
TILE_CUDA_DRIVER=$PWD/none tilec bench k.tile:twice --in x=randn:64:f32 --device=cuda
tilec bench k.tile:both --in x=randn:64:f32 --device=h200
tilec bench k.tile:twice --in q=randn:64:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in a=randn:64:f32 --in b=randn:64:f32 --in q=ones:3:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in a=randn:64:f32 --in b=randn:63:f32
tilec bench k.tile:twice k.tile:sum2 --in x=randn:64:f32 --in 3.a=randn:64:f32
tilec bench k.tile:twice --in x=randn:64:f32 --runs 0
tilec bench k.tile:twice --in x=randn:64:f32 --device=h200 --plot=missing/plot.svg
tilec compile k.tile:twice --emit=artifact -o k.tileart
tilec bench k.tileart:twice --in x=randn:64:f32
tilec bench k.tile:twice --in x=randn:64:f32 --device=h200
tilec bench k.tile:both --in x=randn:64:f32 --device=cuda 2>&1 | sed -E 's/CUDA driver.*/CUDA driver …/' | head -1
tilec bench k.tile:twice --device=h200 --json
