"""Rows of few elements by NumPy."""

import numpy as np


def columns(inputs, params):
    return {"y": inputs["x"].T}


def several(inputs, params):
    t = np.exp(inputs["x"].astype(np.float64)) * np.tanh(inputs["w"].astype(np.float64))[:, None]
    return {"p": t, "q": t + 1, "r": t > 0.5}


def shares(inputs, params):
    e = np.exp(inputs["x"].astype(np.float64))
    total = e.sum(axis=2)
    return {"x": e / total[:, :, None], "total": total}


def below(inputs, params):
    x = inputs["x"]
    n, m = x.shape
    i, j = np.arange(m)[:, None], np.arange(n)[None, :]
    z = np.full((m, n), np.float32(2))
    for row in range(m - 3):
        z[row, 1:] = x[:-1, row + 3]
    return {"y": np.where(i >= 5 * j, x.T, np.float32(-1)), "z": z}


def repeated(inputs, params):
    x, b = inputs["x"], inputs["b"]
    root = np.sqrt(np.abs(x))
    return {"y": np.repeat(root[:, None], len(b), axis=1), "z": np.repeat(b[None, :], len(x), axis=0)}


def gathered(inputs, params):
    y = np.zeros((params["K"], inputs["x"].shape[0]))
    np.add.at(y, inputs["to"], inputs["x"].T.astype(np.float64))
    return {"y": y}


def multiplied(inputs, params):
    e = np.exp(inputs["x"].astype(np.float64))
    p = e / e.sum(axis=1, keepdims=True)
    return {"y": np.where(np.arange(len(p))[:, None] % 3 > 0, p, 0) @ inputs["b"].astype(np.float64)}


def carried(inputs, params):
    x = inputs["x"].astype(np.float64)
    a = np.zeros(x.shape[1:])
    for step in x:
        a = a * 0.5 + np.exp(step)
    return {"y": a, "least": np.sort(a - 1, axis=1)}
