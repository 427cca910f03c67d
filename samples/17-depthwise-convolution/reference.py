"""Lesson 17 in double precision: the definition, one output pixel at a time."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def depthwise_convolution(inputs, params):
    x, w = f64(inputs["x"]), f64(inputs["w"])
    y = np.zeros(x.shape)
    _, height, width, _ = x.shape
    for p, q, r, s in np.ndindex(height, width, *w.shape[:2]):
        row, column = p + r - w.shape[0] // 2, q + s - w.shape[1] // 2
        if 0 <= row < height and 0 <= column < width:
            y[:, p, q] += x[:, row, column] * w[r, s]
    return {"y": y}
