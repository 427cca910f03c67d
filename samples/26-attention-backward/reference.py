"""Lesson 26 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def scores(inputs, params):
    q, k = f64(inputs["q"]), f64(inputs["k"])
    s = np.einsum("bhid,bhjd->bhij", q, k) * params["scale"]
    if params.get("causal", False):
        i, j = np.indices(s.shape[2:])
        s = np.where(j <= i + s.shape[3] - s.shape[2], s, -np.inf)
    return s


def attention(inputs, params):
    s = scores(inputs, params)
    m = s.max(-1, initial=-np.inf)
    p = np.where(s == -np.inf, 0, np.exp(s - m[..., None]))
    l = p.sum(-1)
    p = np.where(l[..., None] > 0, p / l[..., None], 0)
    return {"o": np.einsum("bhij,bhjd->bhid", p, f64(inputs["v"])), "lse": m + np.log(l)}


def attention_backward(inputs, params):
    q, k, v, o, lse, g = (f64(inputs[name]) for name in ("q", "k", "v", "o", "lse", "g"))
    s = scores(inputs, params)
    p = np.where(s == -np.inf, 0, np.exp(s - lse[..., None]))
    delta = (o * g).sum(-1, keepdims=True)
    ds = p * (np.einsum("bhid,bhjd->bhij", g, v) - delta) * params["scale"]
    return {"dq": np.einsum("bhij,bhjd->bhid", ds, k), "dk": np.einsum("bhij,bhid->bhjd", ds, q),
            "dv": np.einsum("bhij,bhid->bhjd", p, g)}


def attention_gradient(inputs, params):
    forward = attention(inputs, params)
    return {"o": forward["o"], **attention_backward({**inputs, **forward}, params)}
