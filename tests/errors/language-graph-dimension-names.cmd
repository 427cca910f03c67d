cat > g.tile <<'END'
graph g(x: f32[M, N], w: f32[M, K], v: f32[2 * K], n: f32[3 * N]) -> (y: f32[M, N]) {
    y = x + w + f32(M)
}
END
tilec run g.tile --in x=ones:2x3:f32 --in w=ones:2x1:f32 --in v=ones:2:f32 --in n=ones:9:f32
