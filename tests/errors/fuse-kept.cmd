# What reads one result of a kernel stores the other for those who need that, and the plan can be made again. Where it can't, since it asks for
# other elements than those that a program stores, the producer stays.
cat > kept.tile <<'END'
kernel pair(x: f32[N]) -> (a: f32[N], b: f32[N]) {
    parallel i in tiles(N) {
        a[i] = x[i] + 1
        b[i] = x[i] * x[i]
    }
}

kernel halves(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] / 2 }
}

kernel turned(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x.pad(0)[i - 1] }
}

graph kept(x: f32[N]) -> (b: f32[N], y: f32[N]) {
    let (s, t) = pair(x)
    b = t
    y = halves(s)
}

graph stays(x: f32[N]) -> (b: f32[N], y: f32[N]) {
    let (s, t) = pair(x)
    b = t
    y = turned(s)
}
END
tilec fuse kept.tile:kept --dim N=5 --explain=plan -o plan.json
tilec run kept.tile:kept --in x=randn:5:f32 --pin=plan.json --check --out y=y.npy
tilec fuse kept.tile:kept --dim N=100000000
tilec fuse kept.tile:stays --dim N=100000000
