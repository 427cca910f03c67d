"""Whole axes in double precision."""

import numpy as np

TABLE = 10 * np.arange(3)[:, None] + np.arange(5)[None, :]


def f64(a):
    return np.asarray(a, dtype=np.float64)


def matvec(inputs, params):
    return {"y": f64(inputs["x"]) @ f64(inputs["v"])}


def largest(inputs, params):
    return {"y": inputs["x"].max(1, initial=-np.inf)}


def totals(inputs, params):
    sums = f64(inputs["x"]).sum(1)
    return {"y": sums * TABLE.sum(), "z": sums + TABLE.sum()}


def quotients(inputs, params):
    x, k = inputs["x"], (inputs["r"] % 7)[:, None]
    factors = np.array([1e-39, 1e-27, 1e-18, 1e27, 1, 1, 1], dtype=np.float32)
    divisors = np.array([1, 1, 1, 1, -1, 1e19, 1e-19], dtype=np.float32)
    t = x * np.where(np.abs(x) > 1.5, np.float32(0), factors[k])
    with np.errstate(all="ignore"):
        q = t / (np.abs(x).max(1, keepdims=True, initial=-np.inf) * divisors[k])
        return {"q": q, "p": 1 / q}


def along_last(inputs, params):
    x = f64(inputs["x"])
    e = np.exp(x - x.max(2, keepdims=True))
    return {"y": e / e.sum(2, keepdims=True)}


def along_first(inputs, params):
    return {"y": inputs["x"] - inputs["x"].max(1, keepdims=True)}


def spend(inputs, params):
    s = inputs["s"]
    return {"y": inputs["x"] * s[:, None], "s": s * np.float32(0)}


def numbers(inputs, params):
    n = inputs["n"]
    t = np.where(n % 3 == 0, np.nan, f64(n))
    return {"y": np.fmin.reduce(t, 1, initial=np.inf), "z": np.fmax.reduce(t, 1, initial=-np.inf)}


def places(inputs, params):
    x = inputs["x"]
    return {"most": x.argmax(1), "least": x.argmin(1), "peak": x.max(1)}


def places_of_specials(inputs, params):
    n, kind = inputs["n"], inputs["r"][:, None] % 4
    special = np.where(kind == 0, np.nan, np.where(kind == 1, np.inf, -np.inf))
    t = np.where(kind == 3, 0.0, np.where(n < 40, special, n))
    return {"most": t.argmax(1), "least": t.argmin(1)}
