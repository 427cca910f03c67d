# Dims that the graph can't have are not planned for.
cat > dims.tile <<'EOT'
kernel twice(x: f32[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = 2 * x[i] } }
kernel both(x: f32[N], y: f32[N]) -> (z: f32[N]) { parallel i in tiles(N) { z[i] = x[i] + y[i] } }
kernel turned(x: f32[N, N]) -> (y: f32[N, N]) {
    parallel i in tiles(N), j in tiles(N) { y[i, j] = x[j, i] }
}
graph added(x: f32[M], w: f32[N]) -> (y: f32[M]) {
    let t = twice(x)
    y = both(t, w)
}
graph some(x: f32[N]) -> (y: f32[N]) requires N > 0 {
    let t = twice(x)
    y = twice(t)
}
graph square(x: f32[M, N]) -> (y: f32[M, N]) {
    let t = 2 * x
    y = turned(t)
}
EOT
tilec fuse dims.tile:some --dim N=-3
tilec fuse dims.tile:some --dim N=0
tilec fuse dims.tile:added --dim M=4 --dim N=5
tilec fuse dims.tile:added --dim M=5
tilec fuse dims.tile:square --dim M=4 --dim N=5 --explain=json
tilec fuse dims.tile:added --why t y --explain=json
# What a called kernel requires, and nobody chose; and chosen so that it holds.
cat > third.tile <<'END'
kernel third(x: f32[N]) -> (y: f32[P]) dim P = N / 3 requires N % 3 == 0 {
    parallel p in tiles(P) { y[p] = x[3 * p] + x[3 * p + 2] }
}
graph of_third(x: f32[N]) -> (y: f32[N / 3]) {
    y = third(x)
}
END
tilec fuse third.tile
tilec fuse third.tile --dim N=100
tilec fuse third.tile --dim N=99 | head -1
