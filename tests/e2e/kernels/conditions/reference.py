"""Conditions in double precision; indices as unbounded integers, or modulo 2^64 where they wrap."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def wrap(number):
    return (number + 2**63) % 2**64 - 2**63


def prefix(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.array([x[:max(int(length), 0)].sum() for length in inputs["length"]])}


def window(inputs, params):
    x = f64(inputs["x"])
    starts = [int(start) for start in inputs["start"]]
    return {"y": np.array([sum(x[j] for j in range(start, start + 3) if 0 <= j < len(x)) for start in starts])}


def triangle(inputs, params):
    return {"y": np.cumsum(f64(inputs["x"]))}


def wrapped(inputs, params):
    x = f64(inputs["x"])
    at = [int(index) for index in inputs["at"]]
    padded = [x[index] if 0 <= index < len(x) else 0 for index in (wrap(2 * k + 1) for k in at)]
    clamped = [x[min(max(wrap(k - 1), 0), len(x) - 1)] for k in at]
    return {"y": np.array(padded), "z": np.array(clamped)}


def triangle_total(inputs, params):
    return {"t": np.array([np.tril(f64(inputs["x"])).sum()])}


def column(inputs, params):
    return {"y": f64(inputs["x"])[:, params["n"]]}


def rows(inputs, params):
    x = f64(inputs["x"])
    return {"y": x.max(1, initial=-np.inf) + np.maximum(np.arange(x.shape[0]) * 0.5, x.shape[1])}


def excluded(inputs, params):
    rows, columns = inputs["x"].shape
    return {"y": np.array([6 if columns > 0 and i >= 3 else 0 for i in range(rows)], dtype=np.int64)}


def fibonacci(inputs, params):
    a, b = inputs["x"].copy(), inputs["x"] + 1
    for _ in range(6):
        a, b = a + b, a + 2
    return {"y": a * 1000 + b}
