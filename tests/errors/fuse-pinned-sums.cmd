# A kernel that has part of another one, without its sums, has no say in that one's blocks: a plan is of those that make the sums. (Found by a random graph.)
cat > sums.tile <<'END'
import std.nn

kernel k1(a0: f32[3, A], b0: f32[3]) -> (y0: f32[3 * A, 3]) {
    parallel i in tiles(3 * A), j in each(3) {
        y0[i, j] = a0.pad(0)[j, i / 3] + b0[j]
    }
}

kernel k2(x: f32[A, B]) -> (y: f32[A, 2], at: i64[2, A]) {
    parallel i in tiles(A) {
        let r = range(2)
        let (v, e) = topk(x[i, :], r, B)
        y[i, r] = clamp(v, -100, 100)
        at[r, i] = e
    }
}

kernel k3(x: f32[A, B], s: f32) -> (y: f32[A, B]) {
    parallel i in tiles(A), j in tiles(B) {
        y[i, j] = f32(f32(x[i, j]) * s + f32(A))
    }
}

kernel k4(a0: f32[A, 2], b0: f32[A, 2]) -> (y0: f32[A, 2]) {
    parallel i in tiles(A) {
        let w1 = range(2)
        let row2 = f32(w1)
        let o3 = (a0[i, w1] + (f32(row2) - min(f32((w1 + 0)), b0[i, w1])))
        y0[i, w1] = o3
    }
}

graph g(t15: f32[3, N], t17: f32[3]) -> (y0: f32[3], y1: f32[(3 * N), 2]) {
    let t18 = k1(t15, t17)
    let (t19, t20) = k2(t18)
    let t21 = k3(t19, 0.5)
    let t22 = k4(t21, t19)
    y0 = sum_columns(t18)
    y1 = t22
}
END
tilec fuse sums.tile --dim N=19 --explain=plan -o plan.json
run() { tilec run sums.tile --in t15=randn:3x19:f32:1 --in t17=randn:3:f32:2 --pin=plan.json "$@" > /dev/null; }
run --fuse=exact --out y0=fused.npy
run --fuse=off --out y0=alone.npy
cmp fused.npy alone.npy && echo the same bits
