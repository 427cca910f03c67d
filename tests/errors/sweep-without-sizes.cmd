cat > each.tile <<END
kernel double(x: f32[M]) -> (y: f32[M]) {
    parallel i in each(M) {
        y[i] = x[i] + x[i]
    }
}
END
tilec run each.tile --in x=ones:3:f32 --sweep-tiles | grep sweep
