"""Arithmetic of halves: in single precision, rounded where the language says so.

A product of two halves is exact in single precision, and so is, but for its own rounding, the sum after it: these
results are compared bit by bit. bf16 comes as float32.
"""

import numpy as np


def f32(a):
    return np.asarray(a, dtype=np.float32)


def half_like(original, a):
    """a rounded to the type of `original`, to nearest, ties to even."""
    if original.dtype == np.float16:
        return f32(f32(a).astype(np.float16))
    bits = f32(a).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def where_rounded(inputs, params):
    a, b = f32(inputs["a"]), f32(inputs["b"])
    once = half_like(inputs["a"], a * b + a)
    twice = half_like(inputs["a"], half_like(inputs["a"], a * b) + a)
    return {"stored": once, "cast": twice, "called": twice, "wide": a * b}


def positives(inputs, params):
    return {"count": half_like(inputs["x"], f32(inputs["x"] > 0).sum(0))}


def steps(inputs, params):
    x, b = f32(inputs["x"]), f32(inputs["b"])
    t = half_like(inputs["x"], x * b)
    return {"y": half_like(inputs["x"], t + x), "z": half_like(inputs["x"], x * b + x)}


def convolution(inputs, params):
    x, w = (np.asarray(inputs[name], np.float64) for name in "xw")
    n, height, width, _ = x.shape
    y = np.zeros((n, (height - 1) // 2 + 1, (width - 1) // 2 + 1, w.shape[3]))
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for p, q in np.ndindex(*y.shape[1:3]):
        window = padded[:, 2 * p : 2 * p + 3, 2 * q : 2 * q + 3]
        y[:, p, q] = np.einsum("nrsc,rscf->nf", window, w)
    return {"y": y}
