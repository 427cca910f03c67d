"""The loops, one step after the other."""

import numpy as np


def horner(inputs, params):
    c, x = (np.asarray(inputs[name], dtype=np.float64) for name in ("c", "x"))
    return {"y": sum((c[n] * x**n for n in range(len(c))), np.zeros_like(x))}


def halved(values):
    total = 0.0
    for value in values:
        total = total / 2 + float(value)
    return total


def orders(inputs, params):
    c = inputs["c"]
    k = len(c)
    part = [c[s] for r in list(range(2, k - 2))[::-1][::2] for s in (r + 1, r, r - 1)]
    one = lambda values: np.array([halved(values)])
    return {"down": one(c[::-1]), "down3": one(c[::-1][::3]), "up3": one(c[::3]), "part": one(part),
            "last": np.array([3, -1, 99, 99])}


def ragged(inputs, params):
    x, low, high = inputs["x"], inputs["from"], inputs["to"]
    n = x.shape[1]
    rows = [list(range(max(a, 0), min(b, n)))[::-1][::2] for a, b in zip(low.tolist(), high.tolist())]
    return {"y": np.array([halved(x[m, row]) for m, row in enumerate(rows)], dtype=np.float64)}
