"""Maps and functions in double precision."""

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
