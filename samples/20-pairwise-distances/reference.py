"""Lesson 20 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def pairwise_distances(inputs, params):
    x, y = f64(inputs["x"]), f64(inputs["y"])
    return {"d": np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(2))}


def nearest(inputs, params):
    d = pairwise_distances(inputs, params)["d"]
    if d.shape[1] == 0:
        return {"index": np.full(len(d), -1, np.int32), "d": np.full(len(d), np.inf)}
    return {"index": d.argmin(1).astype(np.int32), "d": d.min(1)}
