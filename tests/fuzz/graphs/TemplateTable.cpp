#include "tests/fuzz/graphs/Templates.h"

using namespace tile::fuzz;

static const char *const library = "f16 bf16 f32 f32";

const std::vector<Template> tile::fuzz::graphTemplates = {
    // The library.
    {"ESR", library, "T:A,B T:B,C", "T:A,C:*B", "matmul($0, $1)", ""},
    {"ESR", library, "T:A,B T:C,B", "T:A,C:*B", "matmul_nt($0, $1)", ""},
    {"ESR", library, "T:B,A T:B,C", "T:A,C:*B", "matmul_tn($0, $1)", ""},
    {"SR", library, "T:A,B T:B,C T:C", "T:A,C:*B", "linear($0, $1, $2)", ""},
    {"ESR", library, "T:D,A,B T:D,B,C", "T:D,A,C:*B", "batch_matmul($0, $1)", ""},
    {"SR", library, "T:A,B", "T:A,B:=", "softmax($0)", ""},
    {"R", library, "T:A,B", "T:A,B:=", "log_softmax($0)", ""},
    {"SR", library, "T:A,B T:B T:B", "T:A,B:=", "layer_norm($0, $1, $2)", ""},
    {"SR", library, "T:A,B T:B", "T:A,B:=", "rms_norm($0, $1, eps = 1e-3)", ""},
    {"ESR", library, "T:A,B", "f32:A:+B", "sum_rows($0)", ""},
    {"R", library, "T:A,B", "f32:A:=", "max_rows($0)", ""},
    {"ER", library, "T:A,B", "i32:A:99", "argmax_rows($0)", ""},
    {"ESR", library, "T:A,B", "f32:B:+A", "sum_columns($0)", ""},
    {"ESR", "num", "T:A,B", "T:B,A:=", "transpose($0)", ""},
    // Contractions.
    {"ESR", "f16 bf16 f32 f64", "T:A,B T:B,C", "T:A,C:*B", "$K($0, $1)",
     R"(kernel $K(a: $T[A, B], b: $T[B, C]) -> (c: $T[A, C]) {
    parallel i in tiles(A), j in tiles(C) {
        var acc = zeros($S, i, j)
        for k in tiles(B) { acc += dot(a[i, k], b[k, j], k) }
        c[i, j] = $T(acc)
    }
} schedule { i = $1; j = $2; k = $3 }
)"},
    {"ESR", "f16 bf16 f32 i32", "T:A,B T:C,B", "$S:C,A:*B", "$K($0, $1)",
     R"(kernel $K(a: $T[A, B], b: $T[C, B]) -> (c: $S[C, A]) {
    parallel j in tiles(C), i in tiles(A) {
        var acc = zeros($S, i, j)
        for k in tiles(B) { acc += sum(a[i, k] * b[j, k], k) }
        c[j, i] = acc
    }
} schedule { j = $2; k = $3 }
)"},
    {"ESR", "f32", "T:A,B T:B,C T:A", "T:A,C:*B T:A:*B", "$K($0, $1, $2)",
     R"(kernel $K(a: $T[A, B], b: $T[B, C], r: $T[A]) -> (c: $T[A, C], m: $T[A]) {
    parallel i in tiles(A) {
        let t = dot(a[i, :], b[:, :], B)
        c[i, :] = max(t, r[i])
        m[i] = clamp(max(t, C), -60000, 60000)
    }
} schedule { i = $1 }
)"},
    {"ESR", "f32 f16", "T:D,A,B T:B,C", "T:D,A,C:*B", "$K($0, $1)",
     R"(kernel $K(a: $T[D, A, B], b: $T[B, C]) -> (c: $T[D, A, C]) {
    parallel d in each(D), i in tiles(A) {
        var acc = zeros(f32, i, C)
        for k in tiles(B) { acc += dot(a[d, i, k], b[k, :], k) }
        c[d, i, :] = $T(acc)
    }
} schedule { i = $1; k = $2 }
)"},
    {"SR", "f32", "T:A,B T:C,B T:C,D", "T:A,D:9", "$K($0, $1, $2)",
     R"(kernel $K(q: $T[A, B], k: $T[C, B], v: $T[C, D]) -> (o: $T[A, D]) {
    parallel i in tiles(A) {
        let s = dot(q[i, :], k[:, :], B)
        let e = exp(s - max(s, C))
        o[i, :] = dot(e, v[:, :], C) / (sum(e, C) + 1)
    }
} schedule { i = $1 }
)"},
    // Data that moves.
    {"ESR", "any", "T:A,B T:C,B", "T:(A+C),B:=", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], z: $T[C, B]) -> (y: $T[A + C, B]) {
    parallel i in tiles(A + C), j in tiles(B) {
        y[i, j] = where(i < A, x.clamp[i, j], z.clamp[i - A, j])
    }
} schedule { i = $1 }
)"},
    {"ESR", "any", "T:A,B", "T:(A*B):=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A * B]) {
    parallel i in tiles(A * B) { y[i] = x.clamp[i / max(B, 1), i % max(B, 1)] }
} schedule { i = $1 }
)"},
    {"ESR", "any", "T:A,B", "T:A:= T:A:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A], z: $T[A]) {
    parallel i in tiles(A) {
        y[i] = x.clamp[i, 0]
        z[i] = x.clamp[i, B - 1]
    }
} schedule { i = $1 }
)"},
    {"ESR", "any", "T:A,B", "T:A,B:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B]) {
    parallel i in tiles(A) {
        let d = whole(B)
        y[i, d] = x[i, (d + B / 2) % B]
    }
} schedule { i = $1 }
)"},
    {"ESR", "any", "T:A,B", "T:A,B:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B]) {
    parallel i in tiles(A), g in tiles((B + 3) / 4) {
        let c = range(4) if 4 * g + c < B
        y[i, 4 * g + c] = x[i, 4 * g + c]
    }
} schedule { i = $1; g = $2 }
)"},
    // Stored by digits of an index: of one, and of two.
    {"ESR", "num", "T:A,B", "T:(4*A),B:=", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[4 * A, B]) {
    parallel i in tiles(A), j in tiles(B) {
        let c = range(4)
        y[4 * i + c, j] = x.clamp[i + c, j]
    }
} schedule { i = $1 }
kernel $K1(x: $T[A, B]) -> (y: $T[A, B]) {
    parallel p in tiles(A), j in tiles(B) { y[p, j] = x.pad(0)[(p - 3) / 2, j] }
} schedule { p = $2 }
)"},
    {"ESR", "num", "T:1,B", "T:B:=", "$K1($K($0))",
     R"(kernel $K(x: $T[1, B]) -> (y: $T[B]) {
    parallel i in tiles(1), j in tiles(B) { y[2 * i + j] = -x[i, j] }
} schedule { j = $1 }
kernel $K1(x: $T[B]) -> (y: $T[B]) {
    parallel j in tiles(B) { y[j] = x.pad(1)[j - 1] }
} schedule { j = $2 }
)"},
    {"ESR", "num", "T:A", "T:(12*A):=", "$K1($K($0))",
     R"(kernel $K(x: $T[A]) -> (y: $T[12 * A]) {
    parallel i in tiles(A), r in each(3) {
        let c = range(4)
        y[12 * i + 4 * r + c] = x.clamp[i - r + 2 * c]
    }
} schedule { i = $1 }
kernel $K1(x: $T[A]) -> (y: $T[A]) {
    parallel p in tiles(A) { y[A - 1 - p] = x.pad(1)[(p - 5) / 2] }
} schedule { p = $2 }
)"},
    {"ER", "f32 i32", "T:A,B", "T:A,B:300", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B]) {
    parallel i in tiles(A), g in tiles((B + 3) / 4) {
        let c = range(4) if 4 * g + c < B
        let v = x[i, 4 * g + c]
        y[i, 4 * g + c] = clamp(v - max(v, c), -150, 150)
    }
} schedule { g = $1 }
)"},
    {"ESR", "any", "T:A,B", "T:A,B,2:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B, 2]) {
    parallel i in tiles(A), j in tiles(B) {
        let r = range(2)
        y[i, j, r] = join((x[i, j], x.clamp[i + 1, j]), r)
    }
} schedule { j = $1 }
)"},
    {"ESR", "any", "T:A,B,2", "T:A,B:= T:B,A:=", "$K($0)",
     R"(kernel $K(x: $T[A, B, 2]) -> (y: $T[A, B], z: $T[B, A]) {
    parallel i in tiles(A), j in tiles(B) {
        let r = range(2)
        let (p, q) = split(x[i, j, r], r)
        y[i, j] = p
        z[j, i] = q
    }
} schedule { j = $1; i = $2 }
)"},
    {"ESR", "any", "T:A,B", "T:A,B:= T:A,B:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B], z: $T[A, B]) {
    parallel i in tiles(A), j in tiles(B) {
        y[i, j] = x[i, j]
        z[A - 1 - i, j] = x[i, B - 1 - j]
    }
} schedule { i = $1; j = $2 }
)"},
    {"ESR", "any", "T:A,B T:A,C", "T:A,(B+C):=", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], z: $T[A, C]) -> (y: $T[A, B + C]) {
    parallel i in tiles(A) {
        let r = whole(B + C)
        y[i, r] = concat((x[i, :], z[i, :]), ($b, $c), r)
    }
} schedule { i = $1 }
)"},
    {"ER", "any", "T:A,B i32:C", "T:C,B:=", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], ids: i32[C]) -> (y: $T[C, B]) {
    parallel i in tiles(C), j in tiles(B) { y[i, j] = x.clamp[ids[i] - 1, j] }
} schedule { i = $1 }
)"},
    // Rows, scans and orders.
    {"ESR", "f16 f32 i32", "T:A,B", "$S:A,B:+B", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $S[A, B]) {
    parallel i in tiles(A) {
        var h = zeros($S, i)
        for k in tiles(B) {
            let (sums, last) = cumsum(x[i, k], k, init = h)
            y[i, k] = sums
            h = last
        }
    }
} schedule { i = $1; k = $2 }
)"},
    {"ESR", "f32", "T:A,B", "T:A:+B", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A]) {
    parallel i in tiles(A) {
        var state = zeros(f32, i)
        for k in tiles(B) sequential(4) {
            state = max(state, sum(x[i, k], k))
        }
        y[i] = state
    }
} schedule { i = $1 }
)"},
    {"SR", "f32", "T:A,B", "T:A:0", "$K($0)",
     R"(fn $K1(m0, l0, m1, l1) {
    let m = max(m0, m1)
    return (m, l0 * expdiff(m0, m) + l1 * expdiff(m1, m))
}
kernel $K(x: $T[A, B]) -> (y: $T[A]) {
    parallel i in tiles(A) {
        var m = full(f32, -inf, i)
        var l = zeros(f32, i)
        for j in tiles(B) reassociable merge $K1 {
            let most = max(m, max(x[i, j], j))
            l = l * expdiff(m, most) + sum(expdiff(x[i, j], most), j)
            m = most
        }
        y[i] = max(m, -50) + log(l + 1)
    }
} schedule { i = $1 }
)"},
    {"ESR", "f32", "T:A,B T:A,B", "T:A,B:64", "$K($0, $1)",
     R"(fn $K1(a0, b0, a1, b1) {
    return (min(a0, a1), clamp(max(b0, b1), -30, 30))
}
kernel $K(a: $T[A, B], b: $T[A, B]) -> (y: $T[A, B]) {
    parallel i in tiles(A) {
        let (s, t, _, _) = scan($K1, (a[i, :], b[i, :]), B, init = (1, 0))
        y[i, :] = clamp(s, -30, 30) + t
    }
} schedule { i = $1 }
)"},
    {"ER", "f32 f16 i32 i64", "T:A,B", "T:A,2:5000 i64:2,A:99", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, 2], at: i64[2, A]) {
    parallel i in tiles(A) {
        let r = range(2)
        let (v, e) = topk(x[i, :], r, B)
        y[i, r] = clamp(v, -100, 100)
        at[r, i] = e
    }
} schedule { i = $1 }
)"},
    {"ESR", "f32 f16 i32", "T:A,B", "$S:A:+B", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $S[A]) {
    parallel i in tiles(A) {
        let n = whole(B) if n <= i
        y[i] = sum(x[i, n], n)
    }
} schedule { i = $1 }
)"},
    // Rows read along an axis that has a condition, or that gives their other index, too.
    {"ESR", "f32 f16 i32", "T:A,B", "$S:A:+B", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B]) {
    parallel i in tiles(A) { y[i, :] = x[i, :] - max(x[i, :], B) }
} schedule { i = $1 }
kernel $K1(x: $T[A, B]) -> (y: $S[A]) {
    parallel i in tiles(A) {
        let n = whole(B) if n <= i
        y[i] = sum(x[i, n], n)
    }
} schedule { i = $2 }
)"},
    {"ESR", "f32 f16 i32", "T:B,B", "T:B:+B", "$K1($K($0))",
     R"(kernel $K(x: $T[B, B]) -> (y: $T[B, B]) {
    parallel i in tiles(B) { y[i, :] = x[i, :] - max(x[i, :], B) }
} schedule { i = $1 }
kernel $K1(x: $T[B, B]) -> (y: $T[B]) {
    parallel i in tiles(B) {
        let n = whole(B)
        y[i] = clamp(min(x[n, n] + x[(n + i) % B, n], n), -90, 90)
    }
} schedule { i = $2 }
)"},
    {"SR", "f32", "T:A,B", "T:A:*B", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A]) {
    parallel i in tiles(A) {
        var acc = zeros($T, i)
        for k in tiles(B) { acc += sum(x[i, k] * 0.7, k) }
        y[i] = acc
    }
} schedule { i = $1; k = $2 }
kernel $K1(x: $T[A]) -> (y: $T[A]) {
    parallel i in tiles(A) { y[i] = x[A - 1 - i] - 1 }
} schedule { i = $3 }
)"},
    {"ESR", "f32", "T:A,B T:3,3", "T:A,B:4000", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], w: $T[3, 3]) -> (y: $T[A, B]) {
    parallel i in tiles(A), j in tiles(B) {
        var acc = zeros(f32, i, j)
        for r in 0..3 {
            for s in 0..3 { acc = acc + clamp(w[r, s] * x.pad(0)[i + r - 1, j + s - 1], -90, 90) }
        }
        y[i, j] = acc
    }
} schedule { i = $1; j = $2 }
)"},
    {"ESR", "num", "T:A,B", "T:((A+1)/2),B:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[(A + 1) / 2, B]) {
    parallel i in tiles((A + 1) / 2), j in tiles(B) {
        y[i, j] = max(x.clamp[2 * i, j], x.clamp[2 * i + 1, j])
    }
} schedule { i = $1; j = $2 }
)"},
    {"ER", "f32 i32", "T:A,B i32:A", "T:A,B:=", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], n: i32[A]) -> (y: $T[A, B]) {
    parallel p in each(A), j in tiles(B) {
        var v = x[p, j]
        var left = n[p] % 5
        while left > 0 {
            v = max(v, x.clamp[p, j + i64(left)])
            left -= 2
        }
        y[p, j] = v
    }
} schedule { j = $1 }
)"},
    {"ER", "f32", "T:A,B i32:A", "T:A,B:=", "$K($0, $1)",
     R"(kernel $K(x: $T[A, B], n: i32[A]) -> (y: $T[A, B]) {
    parallel p in each(A), j in tiles(B) {
        var v = x[p, j]
        if n[p] > 10 {
            for r in 0..3 { v = min(v, x.pad(1)[r, j]) }
        } else {
            v = max(v, x.clamp[p - 1, j])
        }
        y[p, j] = v
    }
} schedule { j = $1 }
)"},
    // Outputs that programs meet in, and what stays as it is.
    {"ESR", "f32 f16 i32", "T:A,B", "$S:1:+A $S:B:+A", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $S[1] reduce +, z: $S[B] reduce +) {
    parallel i in tiles(A) {
        y[0] += sum(x.clamp[i, 0], i)
        z[:] += sum(x[i, :], i)
    }
} schedule { i = $1 }
)"},
    {"ESR", "f32 f16 i32", "T:A,B", "$S:B:+A", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $S[B] reduce +) {
    parallel i in tiles(A), j in tiles(B) { y[j] += sum(x[i, j], i) }
} schedule { i = $1; j = $2 }
)"},
    // Sums that one call reads: each element its own, which can come when the sum is complete, and
    // then beside another sum; or another element.
    {"ES", "f32 f16 i32", "T:A,B", "$S:B:+A", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (s: $S[B] reduce +) {
    parallel i in tiles(A) { s[:] += sum(x[i, :], i) }
} schedule { i = $1 }
kernel $K1(s: $S[B]) -> (y: $S[B]) {
    parallel j in tiles(B) { y[j] = max(s[j], -s[j]) }
} schedule { j = $3 }
)"},
    {"ES", "f32 f16", "T:A,B", "$S:B:+A", "max($K1($K($0)), sum_columns($0))",
     R"(kernel $K(x: $T[A, B]) -> (s: $S[B] reduce +) {
    parallel i in tiles(A), j in tiles(B) { s[j] += sum(x[i, j], i) }
} schedule { i = $1; j = $2 }
kernel $K1(s: $S[B]) -> (y: $S[B]) {
    parallel j in tiles(B) { y[j] = 1 - s[j] }
} schedule { j = $3 }
)"},
    {"ES", "f32 f16 i32", "T:A,B", "$S:B:+A", "max($K1($K($0)), $K3($K2($0)))",
     R"(kernel $K(x: $T[A, B]) -> (s: $S[B] reduce +) {
    parallel i in tiles(A), j in tiles(B) { s[j] += sum(x[i, j], i) }
} schedule { i = $1; j = $2 }
kernel $K1(s: $S[B]) -> (y: $S[B]) {
    parallel j in tiles(B) { y[j] = 1 - s[j] }
}
kernel $K2(x: $T[A, B]) -> (s: $S[B] reduce max) {
    parallel i in tiles(A), j in tiles(B) { s[j] max= max(clamp($S(x[i, j]), -50, 50), i) }
} schedule { i = $1; j = $2 }
kernel $K3(s: $S[B]) -> (y: $S[B]) {
    parallel j in tiles(B) { y[j] = -s[j] }
}
)"},
    {"ES", "f32 f16 i32", "T:A,B", "$S:B:+A", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (s: $S[B] reduce +) {
    parallel i in tiles(A) { s[:] += sum(x[i, :], i) }
} schedule { i = $1 }
kernel $K1(s: $S[B]) -> (y: $S[B]) {
    parallel j in tiles(B) { y[j] = -s[j / 2] }
} schedule { j = $3 }
)"},
    {"ES", "f32 i32", "T:A,B", "T:B:9000", "$K1($K($0))",
     R"(kernel $K(x: $T[A, B]) -> (s: $T[B] reduce max) {
    parallel i in tiles(A), j in tiles(B) { s[j] max= max(clamp(x[i, j], -50, 50), i) }
} schedule { i = $1; j = $2 }
kernel $K1(s: $T[B]) -> (y: $T[B]) {
    parallel j in tiles(B) { y[B - 1 - j] = s[j] - s.pad(0)[j - 1] }
} schedule { j = $3 }
)"},
    {"ES", "f32 f16", "T:A,B T:A,B", "$S:B,B:*A", "$K1($K($0, $1))",
     R"(kernel $K(x: $T[A, B], z: $T[A, B]) -> (s: $S[B, B] reduce +) {
    parallel i in tiles(A), j in tiles(B) { s[j, :] += dot(x[i, j], z[i, :], i) }
} schedule { i = $1; j = $2 }
kernel $K1(s: $S[B, B]) -> (y: $S[B, B]) {
    parallel j in tiles(B), k in tiles(B) { y[j, k] = max(s[k, j], -1) }
} schedule { k = $3 }
)"},
    {"ESR", "f32 i32", "T:A,B", "T:A:9000", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A] reduce max) {
    parallel i in tiles(A), j in tiles(B) { y[i] max= max(clamp(x[i, j], -50, 50), j) }
} schedule { i = $1; j = $2 }
)"},
    {"ER", "i32", "T:A,B", "i32:7:99", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: i32[7] reduce +) {
    parallel i in tiles(A), j in tiles(B) { y[x[i, j]] += 1 }
} schedule { i = $1; j = $2 }
)"},
    {"ESR", "f32 i32", "T:A,B T:A", "T:A,B:*1", "$K($0, $1)",
     R"(kernel $K(inout x: $T[A, B], s: $T[A]) -> () {
    parallel i in tiles(A), j in tiles(B) { x[i, j] = x[i, j] * s[i] }
} schedule { i = $1 }
)"},
    {"ESR", "f32 i32", "T:A,B", "T:A,B:=", "$K($0)",
     R"(kernel $K(x: $T[A, B]) -> (y: $T[A, B]) {
    grid p in 0..A { y[p, :] = -x[A - 1 - p, :] }
}
)"},
    {"SR", "f32 bf16", "T:A,B", "T:A,B:=", "$K($0, 1 / sqrt(f32(2 + $d)))",
     R"(kernel $K(x: $T[A, B], s: f32) -> (y: $T[A, B]) {
    parallel i in tiles(A), j in tiles(B) { y[i, j] = $T(f32(x[i, j]) * s + f32(A)) }
} schedule { j = $1 }
)"},
    {"ESR", "f32", "T:A,B", "T:A,B:=", "$K($0, seed = 5)",
     R"(kernel $K(x: $T[A, B], seed: i64) -> (y: $T[A, B]) {
    parallel i in tiles(A), j in tiles(B) { y[i, j] = where(rand(seed, 0, i, j) < 0.4, 0, x[i, j]) }
} schedule { i = $1; j = $2 }
)"},
};
