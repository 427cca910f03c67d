cat > outer.tile <<END
kernel outer(x: f32[M]) -> (z: f32[M]) {
    parallel p in tiles(M) {
        let a = whole(M)
        let b = whole(M)
        let e = exp(x[a] + x[b] * x[p])
        z[p] = sum(e / sum(e, a), a, b)
    }
}
END
tilec run outer.tile --device=interp --in x=randn:60000:f32
tilec run outer.tile --device=interp --in x=randn:10000000:f32
ls
