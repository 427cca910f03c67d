"""Maps and functions in double precision."""

import math

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def constants(inputs, params):
    x = f64(inputs["x"])
    columns = x.shape[1]
    return {"y": x * 4 + (x * 3 + 1) + x * columns + (x * (columns + 1) + 2)}


def spreads(inputs, params):
    x = f64(inputs["x"])
    spread = x.max(1, initial=-np.inf) - x.min(1, initial=np.inf)
    with np.errstate(all="ignore"):
        return {"y": spread, "z": x.sum(1) / x.shape[1]}


def choices(inputs, params):
    x, k = f64(inputs["x"]), inputs["k"].astype(np.int64)
    n = len(x)
    y = np.where(np.arange(n) < n // 2, -1, 1) * x
    z = sum((np.where(k > r, 1, 0) for r in range(3)), np.zeros(n, np.int64))
    w = np.sign(x) + np.sign(k) + np.where(x > 1, 0.5, np.where(k > 2, 1, 2))
    q = -np.where(x > 0, 1, 2) * x + (2 * np.where(x > 1, 1, 3) - 1) * x
    return {"y": y, "z": z.astype(np.int32), "w": w, "q": q, "v": np.where(x > 0, 100, -100).astype(np.int8)}


def unsigned(a):
    return a.astype(a.dtype.str.replace("i", "u"))


def each(f, *arrays):
    """f of Python's integers, which know no width."""
    flat = zip(*(a.reshape(-1).tolist() for a in arrays))
    return np.array([f(*x) for x in flat], dtype=object).reshape(arrays[0].shape)


def bits(inputs, params):
    x, y = inputs["x"], inputs["y"]
    width, like = x.dtype.itemsize * 8, x.dtype
    plain = unsigned(x)

    def cast(values):
        mask = (1 << width) - 1
        return np.array([int(v) & mask for v in values.reshape(-1)], dtype=plain.dtype).reshape(values.shape).astype(like)
    return {"ones": cast(each(lambda v: bin(v).count("1"), plain)),
            "lead": cast(each(lambda v: width - v.bit_length(), plain)),
            "trail": cast(each(lambda v: (v & -v).bit_length() - 1 if v else width, plain)),
            "high": cast(each(lambda a, b: a * b >> width, x, y)),
            "parity": np.bitwise_xor.reduce(x, axis=1), "odd": np.logical_xor.reduce(x > y, axis=1)}


def high_products(inputs, params):
    def wrapped(v):
        v &= (1 << 64) - 1
        return v - (1 << 64) if v >> 63 else v
    a = each(lambda v: wrapped(v * 6364136223846793005 + 1442695040888963407), inputs["x"])
    b = each(lambda v: wrapped((v - 3) * 3935559000370003845), inputs["y"])
    s = each(lambda v, w: v * w >> 64, a, b)
    u = each(lambda v, w: (v % (1 << 64)) * (w % (1 << 64)) >> 64, a, b)
    folded = np.bitwise_xor.reduce(inputs["x"] * inputs["y"]) if len(a) else 0
    return {"s": s.astype(np.int64), "u": u.astype(np.uint64), "folded": np.array([folded], dtype=np.int64)}


def float_bits(inputs, params):
    x, h, b, d = (inputs[name] for name in "xhbd")
    exponent = (x.view(np.int32) >> 23 & 255) - 127
    return {"y": np.abs(x), "exponent": exponent, "hb": (h * np.float16(2)).view(np.uint16),
            "bb": (b.view(np.uint32) >> 16).astype(np.uint16).view(np.int16), "db": d.view(np.uint64),
            "back": (f64(h) + 1).astype(np.float16)}


def signs(inputs, params):
    x, y = f64(inputs["x"]), f64(inputs["y"])
    with np.errstate(all="ignore"):
        scaled = (inputs["x"] * np.float32(4)).astype(np.float64)
        return {"t": np.trunc(scaled), "c": np.copysign(x, y), "p": np.abs(x) ** y,
                "q": x ** np.rint(2 * y)}


def doubles(inputs, params):
    x, y = inputs["x"], inputs["y"]
    a = np.abs(x)
    with np.errstate(all="ignore"):
        return {"e": np.exp(x * 100), "e2": np.exp2(x * 100), "em": np.expm1(x), "l": np.log(a), "l2": np.log2(a),
                "l10": np.log10(a), "lp": np.log1p(a), "s": np.sin(x * 1e5), "c": np.cos(x * 1e9), "t": np.tan(x),
                "th": np.tanh(x), "er": each_float(math.erf, x), "p": np.power(a, y * 100),
                "q": np.power(x, np.round(y * 2))}


def each_float(f, x):
    return np.array([f(value) for value in x.tolist()], dtype=np.float64)


def angles(inputs, params):
    x = inputs["x"]
    a = f64(x * x * x * np.float32(3e4))
    with np.errstate(all="ignore"):
        return {"s": np.sin(a), "c": np.cos(a), "t": np.tan(f64(x * np.float32(1e30)))}


def sine_times_cosine(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.sin(x) * np.cos(x)}


def one_and_tanh(inputs, params):
    return {"y": 1 + np.tanh(f64(inputs["x"] * np.float32(8)))}


def zeros_of(inputs, params):
    zero = inputs["x"] * np.float32(1e-30) * np.float32(1e-30)
    by = {"low": np.where(zero < 0, zero, 0), "high": np.where(zero > 0, zero, np.float32(-0.0)),
          "left": np.where(zero < 0, 0, zero)}
    with np.errstate(all="ignore"):
        return {name: np.abs(inputs["x"]) / zeros for name, zeros in by.items()}
