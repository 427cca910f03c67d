"""What loops in parts come to, in one go."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def log_sum_exp(inputs, params):
    x = f64(inputs["x"])
    m = x.max(1, initial=-np.inf)
    return {"y": m + np.log(np.exp(x - m[:, None]).sum(1))}


def attention(inputs, params):
    q, k, v = (f64(inputs[name]) for name in "qkv")
    s = q @ k.T
    i, j = np.indices(s.shape)
    s = np.where(j <= i + len(k) - len(q), s, -np.inf)
    p = np.where(s == -np.inf, 0, np.exp(s - s.max(1, keepdims=True, initial=-np.inf)))
    total = p.sum(1, keepdims=True)
    return {"o": np.where(total > 0, p @ v / total, 0)}


def sign_changes(inputs, params):
    x = inputs["x"][inputs["x"] != 0]
    return {"y": np.array([np.count_nonzero(x[1:] * x[:-1] < 0)], dtype=np.int32)}
