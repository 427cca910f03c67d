cat > words.tile <<'END'
kernel starts<const D: int>(x: f32[M, N]) -> (y: f32[M, N]) requires D > 0 {
    parallel i in tiles(M), j in tiles(N) {
        y[i, j] = x.clamp[i, (j / D) * D] + x.clamp[i, 64 * (j / 64) + j % 64 / 2]
    }
}

kernel halves(x: f32[M, N]) -> (a: f32[M, N / 2], b: f32[M, N / 2]) {
    parallel i in tiles(M), j in tiles(N / 2) {
        a[i, j] = x[i, j]
        b[i, j] = x[i, N / 2 + j]
    }
}

kernel total(x: f32[M, N]) -> (s: f32[1] reduce +, y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        s[0] += sum(x[i, j], i, j)
        y[i, j] = 2 * x[i, j]
    }
}

kernel share(y: f32[M, N], s: f32[1]) -> (z: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        z[i, j] = y[i, j] / s[0]
    }
}

kernel near(h: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        y[i, j] = h.clamp[i, j / 32]
    }
}

graph expression(x: f32[M, N]) -> (y: f32[M, N / 2]) {
    let (a, b) = halves(x)
    let h = a * b + 1
    y = near(h)
}

kernel product(x: f32[M, K], w: f32[K, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var sum = zeros(f32, i, j)
        for k in tiles(K) {
            sum += dot(x[i, k], w[k, j], k)
        }
        y[i, j] = sum
    }
}

graph unnamed(x: f32[M, M], w: f32[M, M]) -> (y: f32[M, M]) {
    y = product(product(x, w)-2*x, w)
}

graph both(x: f32[M, N]) -> (z: f32[M, N]) {
    let (s, y) = total(x)
    z = share(y, s)
}

graph large(x: f32[B, H, M, N]) -> (y: f32[B, H, M, N]) {
    y = 2 * x + 1
}
END
# Quotients in products have parentheses.
tilec fuse words.tile:starts --summaries
# What an expression gives, and how long it is, has the graph's names.
tilec fuse words.tile:expression --device=h200 --dim M=4096 --dim N=8192
tilec fuse words.tile:expression --summaries
# An expression is one operand: of an index, and among the names of what became one.
tilec fuse words.tile:unnamed --device=h200
# Two tensors between two kernels: of each its own reason; what nobody chose is told.
tilec fuse words.tile:both --device=h200 --dim M=8192
tilec fuse words.tile:large --device=h200
tilec fuse words.tile:large --device=h200 --json | grep '"assumed\|"warning'
