"""Lesson 19 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def variance(inputs, params):
    x = f64(inputs["x"])
    if x.shape[1] == 0:
        return {"mu": np.full(len(x), np.nan), "v": np.full(len(x), np.nan)}
    return {"mu": x.mean(1), "v": x.var(1)}
