"""Lesson 11 in double precision: pairs of elements turned by a 2×2 matrix with four entries of the tables."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def rotary(inputs, params):
    x, c, s = (f64(inputs[name]) for name in ["x", "cosines", "sines"])
    half = x.shape[3] // 2
    y = np.zeros(x.shape)
    for d in range(half):
        u, v = x[..., d], x[..., d + half]
        y[..., d] = u * c[:, d] - v * s[:, d]
        y[..., d + half] = v * c[:, d + half] + u * s[:, d + half]
    return {"y": y}
