"""Lesson 3 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def softmax(inputs, params):
    x = f64(inputs["x"])
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return {"y": e / e.sum(1, keepdims=True)}
