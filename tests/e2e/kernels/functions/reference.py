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
