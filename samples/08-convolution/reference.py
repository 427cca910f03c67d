"""Lesson 8 in double precision: the definition, one output pixel at a time."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def convolution(inputs, params):
    x, w = f64(inputs["x"]), f64(inputs["w"])
    n, height, width, _ = x.shape
    y = np.zeros((n, (height - 1) // 2 + 1, (width - 1) // 2 + 1, w.shape[3]))
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for p, q in np.ndindex(*y.shape[1:3]):
        window = padded[:, 2 * p : 2 * p + 3, 2 * q : 2 * q + 3]
        y[:, p, q] = np.einsum("nrsc,rscf->nf", window, w)
    return {"y": y}
