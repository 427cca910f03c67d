"""Lesson 4 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def layer_norm(inputs, params):
    x = f64(inputs["x"])
    if x.size == 0:
        return {"y": x}
    y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + params.get("eps", 1e-5))
    return {"y": y * f64(inputs["g"]) + f64(inputs["b"])}


def rms_norm(inputs, params):
    x = f64(inputs["x"])
    if x.size == 0:
        return {"y": x}
    return {"y": x / np.sqrt((x**2).mean(1, keepdims=True) + params.get("eps", 1e-6)) * f64(inputs["g"])}
