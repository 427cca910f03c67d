"""Literals are the numbers that they say, whatever type they meet."""

import math

import numpy as np

f32 = np.float32


def f64(a):
    return np.asarray(a, dtype=np.float64)


def floats(inputs, params):
    x, d, h = f64(inputs["x"]), f64(inputs["d"]), f64(inputs["h"])
    return {"a": x * 2.0**64 + (x * 2.0**63 - 1e18), "b": d * 2.0**64 + np.where(d > 0, 1e39 * 905, 0),
            "c": h * 2.0**64 + np.append(x[1:], 2.0**64)[: len(x)]}


def functions(inputs, params):
    x, n = f64(inputs["x"]), inputs["n"].astype(np.int64)
    return {"a": 2 + x * math.sqrt(2) - 0.125 * np.where(n > 0, math.e, math.log(0.5)) + 7,
            "b": (n - 300 - 30 - 1 - 3 + 4).astype(np.int32), "c": (n * np.where(n > 0, 3, 5)).astype(np.int32)}


def edges(inputs, params):
    x, n, u, k = inputs["x"], inputs["n"], inputs["u"], inputs["k"]
    most = 2**64 - 1
    c = [((each ^ (most if each > 2**63 else 0)) + most // 3) % 2**64 for each in map(int, u)]
    e = [each % (2**63 - 1) for each in map(int, k)]
    return {"a": np.full_like(x, 255), "b": n ^ np.int8(-128), "c": np.array(c, dtype=np.uint64),
            "e": np.array(e, dtype=np.int64)}


def sums(inputs, params):
    t = f32(f32(params["s"]) * f32(2.0**64))
    return {"y": np.maximum(f64(inputs["x"]) * float(t) / 2.0**63, -1)}
