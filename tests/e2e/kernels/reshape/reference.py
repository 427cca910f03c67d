"""Shapes and sums in double precision."""

import numpy as np


def flatten(inputs, params):
    return {"y": inputs["x"].reshape(-1)}


def flatten_by_digits(inputs, params):
    return {"y": inputs["x"].reshape(-1)}


def prefix(inputs, params):
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    return {"y": np.cumsum(x * w), "z": w}


def chained(inputs, params):
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {"y": np.array([(a * b * c).sum()]), "z": b + c}
