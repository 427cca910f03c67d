"""Lesson 30 in NumPy."""

import numpy as np


def lookup(inputs, params):
    return {"y": inputs["table"][inputs["ids"]]}


def normalized(inputs, params):
    x = np.asarray(inputs["x"], dtype=np.float64)
    return {"y": x / x.sum(1, keepdims=True)}


def groups(inputs, params):
    rows, size = len(inputs["x"]), int(params.get("G", 4))
    return {"y": np.arange(rows)[::-1] // size}
