"""Lesson 7 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def normalize(inputs, params):
    x = f64(inputs["x"])
    if x.shape[1] == 0:
        return {"y": x, "mu": np.full(len(x), np.nan), "rs": np.full(len(x), np.nan)}
    mu = x.mean(1)
    rs = 1 / np.sqrt(x.var(1) + params.get("eps", 1e-5))
    return {"y": (x - mu[:, None]) * rs[:, None], "mu": mu, "rs": rs}


def layer_norm_backward(inputs, params):
    x, dy, g, mu, rs = (f64(inputs[name]) for name in ["x", "dy", "g", "mu", "rs"])
    h = (x - mu[:, None]) * rs[:, None]
    w = dy * g
    dx = np.zeros(x.shape)
    for i in range(len(x)) if x.shape[1] else []:
        dx[i] = (w[i] - w[i].mean() - h[i] * (w[i] * h[i]).mean()) * rs[i]
    return {"dx": dx, "dg": (dy * h).sum(0), "db": dy.sum(0)}
