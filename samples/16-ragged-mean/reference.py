"""Lesson 16 in double precision: the mean of a slice."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def ragged_mean(inputs, params):
    x, length = f64(inputs["x"]), inputs["len"]
    y = np.zeros((x.shape[0], x.shape[2]))
    for b, n in enumerate(length):
        y[b] = x[b, :n].sum(0) / n if n else np.nan
    return {"y": y}
