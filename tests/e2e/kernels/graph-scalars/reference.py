"""Numbers that graphs compute: each operation in double precision, rounded to its type once."""

import numpy as np

f32, f16 = np.float32, np.float16


def f64(a):
    return np.asarray(a, dtype=np.float64)


def floats(inputs, params):
    x, s = f64(inputs["x"]), f32(params["s"])
    m, n = x.shape
    t = f32(s / f32(np.sqrt(f32(n + 1))))
    u = f32(min(f32(2 * t), f32(0.75)) - f32(np.exp(float(f32(-t * t)))))
    a = f32(float(s) * float(t) + 0.5) if m > n else -t
    v = abs(float(f32(1000 * t)))
    steps = [2.0 ** max(e, 1) * (8 + q if e else q) / 1024 for e in range(16) for q in range(8)][:-1]
    b = min(steps, key=lambda each: (abs(each - v), steps.index(each) % 2))
    return {"y": float(t) * x + float(u) + float(u), "z": float(a) * x + np.copysign(b, t)}


def doubles(inputs, params):
    x, s = f64(inputs["x"]), params["s"]
    m, n = x.shape
    return {"y": (1 / 3 + s) * x + (s**2 * m - 1 / (n + 1))}


def toward_zero(value):
    near = f16(value)
    return near if abs(float(near)) <= abs(float(value)) else np.nextafter(near, f16(0))


def halves(inputs, params):
    x, s = f64(inputs["x"]), f16(params["s"])
    a = f16(f32(f32(f32(s) * f32(s)) / f32(3)))
    b = toward_zero(f32(f32(s) * f32(0.3333)))
    return {"y": float(a) * x + float(b)}


def integers(inputs, params):
    x, n, k = inputs["x"].astype(np.int64), params["n"], params["k"]
    by = ((n << 4) ^ 0x5A) % 1000 + len(x)
    high = (k * 1000003 * (k * 998244353)) >> 64
    leading = 32 - n.bit_length() if n >= 0 else 0
    low = leading * 3 + ((((k % 2**64) << 32) % 2**64) * 5000000000 >> 64)
    return {"y": (x + by if n > 0 and k < 10 else x - by).astype(np.int32), "h": x + high,
            "l": (x.astype(np.uint64) + np.uint64(low)).astype(np.uint64)}


def inner(x, a):
    a = f32(a)
    return float(f32(a + f32(1))) * x + float(f32(-a / f32(len(x))))


def nested(inputs, params):
    x, s = f64(inputs["x"]), f32(params["s"])
    with np.errstate(all="ignore"):
        return {"y": inner(inner(x, f32(s * f32(x.shape[1]))), f32(2) - s) + inner(x, 0.5)}
