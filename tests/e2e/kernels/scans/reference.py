"""Scans in double precision, one element after the other."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def reversed_scan(f, x, axis):
    return np.flip(f(np.flip(x, axis), axis=axis), axis)


def sums(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.cumsum(x, axis=1), "z": reversed_scan(np.cumsum, x, 1)}


def columns(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.cumsum(x, axis=0), "total": x.sum(0), "z": reversed_scan(np.cumprod, 1 + x / 8, 0)}


def long_sums(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.cumsum(x, axis=1), "total": x.sum(1)}


def integers(inputs, params):
    x, u, b = inputs["x"], inputs["u"], inputs["b"]
    seen = np.zeros_like(x)
    for i in range(x.shape[0]):
        last = 0
        for j in range(x.shape[1]):
            last = x[i, j] if x[i, j] else last
            seen[i, j] = last
    return {"y": np.cumsum(x, axis=1, dtype=np.int32), "most": np.maximum.accumulate(x, axis=1),
            "least": reversed_scan(np.minimum.accumulate, u, 1), "count": np.cumsum(b, axis=1, dtype=np.int32),
            "seen": seen, "bytes": np.cumsum(u, axis=1, dtype=np.uint32)}


def recurrence(inputs, params):
    a, b, state = (f64(inputs[name]) for name in ("a", "b", "h0"))
    h = np.zeros_like(a)
    for t in range(a.shape[1]):
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return {"h": h, "last": state}


def moments(inputs, params):
    x = f64(inputs["x"])
    if x.shape[1] == 0:
        return {"mu": np.zeros(len(x)), "v": np.full(len(x), np.nan)}
    return {"mu": x.mean(1), "v": x.var(1)}


long_moments = moments


def restricted(inputs, params):
    x = f64(inputs["x"])
    lower = np.tril(x).sum(1)
    return {"y": lower[:, None] * np.arange(len(x)), "total": 100 + lower}


def of_halves(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.cumsum(x, axis=1), "top": x.max(1, initial=-np.inf)}


def selective(inputs, params):
    x, delta, a, b, c = (f64(inputs[name]) for name in ("x", "delta", "a", "b", "c"))
    state, y = np.zeros_like(a), np.zeros_like(x)
    for t in range(len(x)):
        step = delta[t][:, None]
        state = np.exp(step * a) * state + step * x[t][:, None] * b[t]
        y[t] = (state * c[t]).sum(1)
    return {"y": y}
