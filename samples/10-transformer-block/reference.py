"""Lesson 10 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def token_norm(inputs, params):
    x = f64(inputs["x"])
    if x.size == 0:
        return {"y": x}
    y = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + params.get("eps", 1e-5))
    return {"y": y * f64(inputs["g"]) + f64(inputs["b"])}


def split_heads(inputs, params):
    return {"y": np.einsum("nic,chd->nhid", f64(inputs["x"]), f64(inputs["w"]))}


def join_heads(inputs, params):
    return {"y": np.einsum("nhid,hdc->nic", f64(inputs["x"]), f64(inputs["w"]))}


def token_linear(inputs, params):
    return {"y": np.einsum("nic,cf->nif", f64(inputs["x"]), f64(inputs["w"])) + f64(inputs["b"])}


def transformer_block(inputs, params):
    a = {name: f64(value) for name, value in inputs.items()}
    length = a["x"].shape[1]

    n1 = token_norm({"x": a["x"], "g": a["g1"], "b": a["b1"]}, {})["y"]
    q, k, v = (np.einsum("nic,chd->nhid", n1, a[name]) for name in ["wq", "wk", "wv"])
    scores = params["scale"] * np.einsum("nhid,nhjd->nhij", q, k)
    if params.get("causal", True):
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    p = np.exp(scores - scores.max(3, keepdims=True, initial=-np.inf))
    o = np.einsum("nhij,nhjd->nhid", p / p.sum(3, keepdims=True), v)
    h = a["x"] + np.einsum("nhid,hdc->nic", o, a["wo"])

    n2 = token_norm({"x": h, "g": a["g2"], "b": a["b2"]}, {})["y"]
    u = n2 @ a["w1"] + a["c1"]
    u = 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))
    return {"y": h + u @ a["w2"] + a["c2"]}
