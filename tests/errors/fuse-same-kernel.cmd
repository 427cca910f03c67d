# Where both calls are of one kernel, a reason says which of the two it means.
cat > same.tile <<'EOT'
kernel pairs(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] + x.clamp[i + 1] }
}
graph sums(x: f32[N]) -> (y: f32[N]) {
    let t = pairs(x)
    y = pairs(t)
}
EOT
tilec fuse same.tile --device=h200 --dim N=1048576
tilec fuse same.tile --device=h200 --dim N=1048576 --why t y
