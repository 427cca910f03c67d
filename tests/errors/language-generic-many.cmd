# Of three million instances some are checked, and each pair of types among them.
cat > many.tile <<'END'
kernel fine<A: num, B: num, C: num, D: num, E: num, F: num>(a: A[M], b: B[M], c: C[M], d: D[M], e: E[M], f: F[M])
        -> (y: A[M]) {
    parallel i in tiles(M) {
        y[i] = a[i] + A(b[i]) + A(c[i]) + A(d[i]) + A(e[i]) + A(f[i])
    }
}
kernel last<A: num, B: num, C: num, D: num, E: num, F: num>(a: A[M], b: B[M], c: C[M], d: D[M], e: E[M], f: F[M])
        -> (y: A[M]) {
    parallel i in tiles(M) {
        y[i] = a[i] + A(e[i] + f[i])
    }
}
kernel unsigned<A: num, B: num, C: num, D: num, E: num, F: num>(a: A[M], b: B[M], c: C[M], d: D[M], e: E[M], f: F[M])
        -> (y: A[M]) {
    parallel i in tiles(M) {
        y[i] = a[i] << c[i]
    }
}
END
timeout 20 tilec check many.tile
