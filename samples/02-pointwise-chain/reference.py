"""Lesson 2 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def chain(inputs, params):
    return {"y": np.maximum(params.get("s", 2.0) * f64(inputs["x"]) + f64(inputs["b"]), 0)}


chain_by_hand = chain
