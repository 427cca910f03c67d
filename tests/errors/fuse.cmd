# Graphs that can't be fused, and plans that can't be explained.
cat > g.tile <<'EOT'
import std.nn
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
graph both(x: f32[N]) -> (y: f32[N]) {
    y = twice(relu(x))
}
EOT
tilec fuse
tilec fuse g.tile:twice
tilec fuse g.tile:none
tilec fuse g.tile --device=h20
tilec fuse g.tile --dim M=7
tilec fuse g.tile --dim N=x
tilec fuse g.tile --explain=picture
tilec fuse g.tile --why relu twice
tilec fuse g.tile --why x y
tilec fuse g.tile --why twice
tilec fuse g.tile -o g.tile
tilec fuse g.tile -o /none/x.txt
tilec fuse missing.tile
tilec run g.tile --in x=ones:8:f32 --fuse=slow
tilec fuse g.tile --fuse=all
tilec fuse g.tile --fuse=off --why x y
tilec fuse g.tile --fuse=off --dim N=1000 --device=h200
tilec fuse g.tile --fuse=fast --dim N=1000 --device=h200
tilec bench g.tile --in x=ones:8:f32 --fuse=on
tilec compile g.tile --emit=artifact --fuse=yes -o a.tileart
tilec fuse g.tile --dim N=1000 --device=h200 --why both.map0 twice
tilec fuse g.tile --dim N=1000 --device=h200 --why 'relu(x)' 6:9
# What a name means that several things have; and what has no name, or nobody reads.
cat > n.tile <<'EOT'
import std.nn
kernel twice(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] * 2 }
}
kernel total(x: f32[N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(N) { s[0] += sum(x[i], i) }
}
graph names(x: f32[N], unread: f32[N]) -> (y: f32[N], s: f32[1]) {
    let same = relu(x)
    let total = twice(same)
    y = total
    s = total(relu(total) + relu(x))
}
EOT
tilec fuse n.tile:names --why total y
tilec fuse n.tile:names --why unread y
tilec fuse n.tile:names --why y s --dim N=1000000
tilec fuse n.tile:names --why 9:16 12:15 --dim N=1000000
tilec fuse n.tile:names --device=h200 --dim N=1000000
# What to change, where that helps.
cat > h.tile <<'EOT'
kernel total(x: f32[N]) -> (s: f32[1] reduce +) {
    parallel i in tiles(N) { s[0] += sum(x[i], i) }
}
kernel share(x: f32[N], s: f32[1]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x[i] / s[0] }
}
kernel edge(x: f32[N]) -> (y: f32[N]) {
    parallel i in tiles(N) { y[i] = x.clamp[i - 1] }
}
graph parts(x: f32[N]) -> (y: f32[N]) {
    let s = total(x)
    let part = share(x, s)
    y = edge(part)
}
EOT
tilec fuse h.tile:parts --device=h200 --dim N=1000000
tilec fuse h.tile:parts --device=h200 --why part y
# What is wrong with a launch is told of the kernels as they are written.
cat > m.tile <<'EOT'
kernel add2(x: f32[N], y: f32[N]) -> (z: f32[N]) {
    parallel i in tiles(N) { z[i] = x[i] + y[i] }
}
kernel even(x: f32[N]) -> (y: f32[N / 2]) {
    parallel i in tiles(N / 2) { y[i] = x[2 * i] }
}
kernel twice(x: f32[N]) -> (y: f32[N]) requires N > 3 {
    parallel i in tiles(N) { y[i] = 2 * x[i] }
}
graph g(x: f32[N], y: f32[M]) -> (z: f32[N / 2]) {
    let t = even(x)
    let u = twice(y)
    z = add2(t, u)
}
EOT
tilec run m.tile:g --in x=ones:8:f32 --in y=ones:5:f32 --fuse=exact
tilec run m.tile:g --in x=ones:6:f32 --in y=ones:3:f32 --fuse=exact
