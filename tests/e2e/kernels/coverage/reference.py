"""Groups and extremes by reshaping."""

import numpy as np


def grouped(inputs, params):
    x = inputs["x"].astype(np.float64)
    groups = x.reshape(len(x), x.shape[1] // 32, 32)
    return {"y": (groups / np.abs(groups).max(2, keepdims=True, initial=-np.inf)).reshape(x.shape)}


def swapped(inputs, params):
    x, count = inputs["x"], int(params["G"])
    return {"y": x.reshape(count, len(x) // count)[::-1].reshape(-1)}


def quads(inputs, params):
    x = inputs["x"].astype(np.float64)
    return {"y": np.array([x[n] - x[n // 4 * 4:n // 4 * 4 + 4].max() for n in range(len(x))])}


def columns(inputs, params):
    return {"y": 2 * inputs["x"].reshape(len(inputs["x"]) // 4, 4)}


def extremes(inputs, params):
    x, z = inputs["x"], inputs["z"]
    return {"y": x.max(0, initial=-np.inf), "w": x.min(0, initial=np.inf),
            "v": z.max(0, initial=-np.inf).astype(np.float16)}
