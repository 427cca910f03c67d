"""Transposes by NumPy."""

import numpy as np


def turned(inputs, params):
    return {"y": inputs["x"].T}


def turned_of_four(inputs, params):
    return {"y": inputs["x"].transpose(0, 2, 3, 1)}


def rotated(inputs, params):
    x = inputs["x"]
    return {"y": 2 * x.transpose(1, 2, 0), "z": x.transpose(2, 0, 1) - np.float32(1)}


def moved(inputs, params):
    x = inputs["x"]
    m, n = x.shape
    if 0 in x.shape:
        return {"y": np.zeros((n, m), np.float32), "z": np.zeros((n, m), np.float32)}
    rows, columns = np.arange(m) - 2, np.arange(n) + 3
    inside = ((rows >= 0) & (rows < m))[:, None] & ((columns >= 0) & (columns < n))[None, :]
    y = np.where(inside, x[rows.clip(0, m - 1)][:, columns.clip(0, n - 1)], np.float32(0))
    return {"y": y.T, "z": x[(np.arange(m) + 1).clip(0, m - 1)][:, (np.arange(n) - 5).clip(0, n - 1)].T}


def crossed(inputs, params):
    x, y, w = (inputs[name].astype(np.float64) for name in ("x", "y", "w"))
    return {"p": x + w[:, None] * y.T, "q": (x * y.T).T}


def replaced(inputs, params):
    return {"before": inputs["x"].T, "x": inputs["w"].T}


def doubled(inputs, params):
    return {"before": inputs["x"].T - np.float32(1), "x": 2 * inputs["x"]}


def stripes(inputs, params):
    return {"y": 3 * inputs["x"].T}


def both_ways(inputs, params):
    x, w = (inputs[name].astype(np.float64) for name in ("x", "w"))
    t = np.tanh(x) * np.exp(w)[:, None]
    return {"y": t + 1, "z": (t * w[:, None]).T}


def both_of_three(inputs, params):
    x = inputs["x"].astype(np.float64)
    t = np.tanh(np.exp(x))
    return {"y": t - x, "z": t.transpose(2, 0, 1)}
