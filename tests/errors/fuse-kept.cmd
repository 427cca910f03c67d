# What a consumer reads is given by another kernel in the end, which keeps it: the producer isn't computed in the consumer for nothing, and the plan
# can be made again. (Found by a random graph; that a sum is folded twice decides it.)
cat > kept.tile <<'END'
kernel pair(a0: i32[A], b0: u8[A]) -> (y0: i32[A], y1: i32[A]) {
    parallel i in tiles(A) {
        let o1 = max(a0[i], max(i32(b0[i]), a0[i]))
        y0[i] = o1
        let o2 = abs(o1)
        y1[i] = o2
    }
}

kernel in_loop(a0: f32[A, B], b0: f32[B, B], c0: i32[B]) -> (y0: f32[B, A]) {
    parallel i in tiles(A) {
        let w1 = whole(B)
        var v3 = full(f32, 0, i, w1)
        for n2 in 0..3 {
            v3 = v3 +
                    max(a0.pad(f32(2))[i, i + w1],
                    min(b0[w1 - w1 % 3, w1],
                        (max(a0.pad(f32(3))[c0[w1] + 1, w1], f32(0)) +
                            where(a0.pad(f32(3))[c0[w1] + 1, w1] > a0.pad(f32(3))[c0[w1] + 1, w1],
                                a0.pad(f32(3))[c0[w1] + 1, w1], a0.pad(f32(3))[c0[w1] + 1, w1]))))
        }
        let o4 = min((v3 - 16 * floor(v3 / 16)), (f32(2) * (v3 - 16 * floor(v3 / 16))))
        y0[w1, i] = o4
    }
}

kernel beside(a0: f32[A, B], b0: f32[C, B], c0: i32[B]) -> (y0: i64[(3 * A), B], y1: i64[(3 * A), B]) {
    parallel i in tiles((3 * A)), j in tiles(B) {
        let r1 = whole(B)
        let s2 = sum(
                (
                    (a0.clamp[r1 - 1, r1] -
                        (
                            (max(a0.clamp[r1 - 1, r1], a0.clamp[r1 - 1, r1]) +
                                (a0.clamp[r1 - 1, r1] + a0.clamp[r1 - 1, r1])) -
                            16 *
                            floor(
                                (max(a0.clamp[r1 - 1, r1], a0.clamp[r1 - 1, r1]) +
                                    (a0.clamp[r1 - 1, r1] + a0.clamp[r1 - 1, r1])) / 16))) +
                    zeros(f32, r1)), r1)
        var v4 = full(f32, 0, i, j)
        for k3 in tiles(B) {
            v4 max= max((a0.pad(f32(1))[2 * k3 + 1, j] + zeros(f32, k3)), k3)
        }
        let o5 = max(i64(a0.pad(f32(3))[j - 1, j]), (i64(b0.pad(f32(2))[c0[j] + 1, 3]) + 1))
        y0[i, j] = o5
        let o6 = where(o5 >
                where(i64(b0.pad(f32(2))[c0[j] + 1, 3]) >
                    (i64(s2) -
                        where(i64(a0.pad(f32(3))[j - 1, j]) > i64(v4), i64(v4),
                            i64(a0.pad(f32(3))[j - 1, j]))),
                    (i64(s2) -
                        where(i64(a0.pad(f32(3))[j - 1, j]) > i64(v4), i64(v4),
                            i64(a0.pad(f32(3))[j - 1, j]))), i64(b0.pad(f32(2))[c0[j] + 1, 3])),
                where(i64(b0.pad(f32(2))[c0[j] + 1, 3]) >
                    (i64(s2) -
                        where(i64(a0.pad(f32(3))[j - 1, j]) > i64(v4), i64(v4),
                            i64(a0.pad(f32(3))[j - 1, j]))),
                    (i64(s2) -
                        where(i64(a0.pad(f32(3))[j - 1, j]) > i64(v4), i64(v4),
                            i64(a0.pad(f32(3))[j - 1, j]))), i64(b0.pad(f32(2))[c0[j] + 1, 3])), o5)
        y1[i, j] = o6
    }
} schedule { i = 8; j = 5 }

graph g(x3: i32[N], x4: u8[N], x5: f32[N, N], t9: f32[M, N], x8: f32[(3 * M), N])
        -> (y2: i32[N], y3: f32[N, M], y5: i64[(3 * M), N], y6: i64[(3 * M), N]) {
    let (t7, t8) = pair(x3, x4)
    let t10 = in_loop(t9, x5, t8)
    let (t12, t13) = beside(t9, x8, t8)
    y2 = t7
    y3 = t10
    y5 = t12
    y6 = t13
}
END
tilec fuse kept.tile:g --dim M=3 --dim N=1 --explain=plan -o plan.json
tilec fuse kept.tile:g --dim M=3 --dim N=1
