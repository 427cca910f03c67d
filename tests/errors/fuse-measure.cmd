# What --measure says, but for the times.
cat > g.tile <<'EOF'
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = 2 * x[i] }
}
graph four(x: f32[N]) -> (y: f32[N]) {
    y = twice(twice(x))
}
EOF
tilec fuse g.tile --measure --dim N=1000 | grep "to compile" | sed -E 's/[0-9.]+ (µs|ms|s)/TIME/g; s/: (not )?earned back.*/: EARNED/'
tilec fuse g.tile --measure --dim N=1000 --explain=json | grep -oE '"(earned_back|fuse_seconds|compile_seconds|runs)"' | sort | uniq -c
