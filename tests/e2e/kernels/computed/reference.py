"""Products of computed operands in double precision: the result, and the sum of its terms' magnitudes."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def product(a, b):
    return a @ b, np.abs(a) @ np.abs(b)


def relu(inputs, params):
    return {"c": product(np.maximum(f64(inputs["a"]), 0), f64(inputs["b"]))}


def reciprocal(inputs, params):
    return {"c": product(1 / f64(inputs["a"]), f64(inputs["b"]).T)}


def across(inputs, params):
    return {"c": product(np.exp(f64(inputs["a"])).T, f64(inputs["b"]))}


def scaled(inputs, params):
    a = f64(inputs["a"]) * f64(inputs["r"])[:, None] * f64(inputs["g"])
    c, terms = product(a, f64(inputs["b"]))
    return {"c": (c + f64(inputs["bias"]), terms + np.abs(f64(inputs["bias"])))}


def both(inputs, params):
    x, y = f64(inputs["x"]), f64(inputs["y"]).T
    weight = np.where(np.arange(x.shape[1]) % 3 == 0, 0.5, 2)
    c, _ = product(x * weight + y, f64(inputs["b"]))
    return {"c": (c, (np.abs(x * weight) + np.abs(y)) @ np.abs(f64(inputs["b"])))}


def shifted(inputs, params):
    a = f64(inputs["a"])
    up = np.concatenate([np.zeros_like(a[:, :1]), a[:, :-1]], axis=1)[:, :a.shape[1]]
    c, terms = product(up * params["s"] + 1, f64(inputs["b"]))
    return {"c": (c.swapaxes(1, 2), terms.swapaxes(1, 2))}


def right(inputs, params):
    return {"c": product(f64(inputs["a"]), np.maximum(f64(inputs["b"]), 0))}


def beside(inputs, params):
    x, y = f64(inputs["x"]), f64(inputs["y"])
    rows = np.zeros_like(y)
    count = min(len(x), len(y))
    rows[:count] = x[:count]
    c, _ = product(rows + y, f64(inputs["b"]))
    return {"c": (c, (np.abs(rows) + np.abs(y)) @ np.abs(f64(inputs["b"])))}


def by_columns(inputs, params):
    c, terms = product(f64(inputs["a"]), f64(inputs["b"]))
    s = f64(inputs["s"])
    return {"c": (c * s, terms * np.abs(s))}


def looked_up(inputs, params):
    at = np.clip(inputs["at"], 0, len(inputs["g"]) - 1)
    return {"c": product(f64(inputs["a"]) * f64(inputs["g"])[at][:, None], f64(inputs["b"]))}
