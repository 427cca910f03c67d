# What would need more memory than the device has stays apart, and so does what would need more than its calls apart.
cat > memory.tile <<'EOF'
kernel checked(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        assert(x[i] == x[i], "no number")
        y[i] = 2 * x[i]
    }
}
kernel scaled(x: f32[N], by: f32[1]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        assert(x[i] == x[i], "no number")
        y[i] = x[i] * by[0]
    }
}
kernel products(x: f32[N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(N), k in each(1) {
        s[k] += sum(x.pad(0)[i - 1] * x.pad(0)[i + 1], i)
    }
}
graph late(x: f32[N], z: f32[N], u: f32[N]) -> (y: f32[N]) {
    let a = checked(x)
    let b = checked(z)
    let s = a + b
    let r = products(s)
    let v = scaled(u, r)
    let w = checked(v)
    y = s * w
}
EOF
describe() { cat > $1.json <<EOF
{"name": "$1", "title": "$1", "kind": "gpu", "target": "sm_90a", "sources": {"me": "me"}, "figures": {
  "memory_bandwidth": {"value": 1e12, "unit": "B/s", "source": "me"}, "launch": {"value": 3e-6, "unit": "s", "source": "me"},
  "memory": {"value": $2, "unit": "B", "source": "me"}, "vector_f32": {"value": 1e13, "unit": "FLOP/s", "source": "me"}}}
EOF
}
describe small 31e6; describe large 34e6; describe tiny 29e6
tilec fuse memory.tile --dim N=1048576 --device=small.json
tilec fuse memory.tile --dim N=1048576 --device=small.json --why s y
tilec fuse memory.tile --dim N=1048576 --device=large.json
tilec fuse memory.tile --dim N=1048576 --device=tiny.json | grep peak
