"""Lesson 22 in double precision."""

from math import erf

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def arrays(inputs, *names):
    return [f64(inputs[name]) for name in names]


def softmax_rows(x):
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


def sigmoid_of(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def exact_gelu(x):
    return x * 0.5 * (1 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2)))


def embed(inputs, params):
    table, pos, g, b = arrays(inputs, "table", "pos", "g", "b")
    h = pos.copy()
    for s, token in enumerate(inputs["ids"]):
        if 0 <= token < len(table):
            h[s] += table[token]
    if h.size == 0:
        return {"y": h}
    return {"y": (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) * g + b}


def turn(x, cosines, sines):
    """Rotary embedding of [batch, position, head, element]."""
    half = x.shape[3] // 2
    partner = np.concatenate([-x[..., half:], x[..., :half]], axis=3)
    return x * cosines[None, :, None, :] + partner * sines[None, :, None, :]


def rotary_attention(inputs, params):
    q, k, v, cosines, sines = arrays(inputs, "q", "k", "v", "cosines", "sines")
    q, k = turn(q, cosines, sines), turn(k, cosines, sines)
    o = np.zeros(q.shape)
    for b, i, h in np.ndindex(*q.shape[:3]):
        g = h // (q.shape[2] // k.shape[2])
        p = softmax_rows(params["scale"] * (k[b, : i + 1, g] @ q[b, i, h]))
        o[b, i, h] = p @ v[b, : i + 1, g]
    return {"o": o}


def gated_mlp(inputs, params):
    x, g, wg, wu, wd = arrays(inputs, "x", "g", "wg", "wu", "wd")
    n = x / np.sqrt((x**2).sum(1, keepdims=True) / max(x.shape[1], 1) + 1e-6) * g
    gate = n @ wg
    return {"y": x + (gate * sigmoid_of(gate) * (n @ wu)) @ wd}


def classifier(inputs, params):
    x, w1, b1, w2, b2 = arrays(inputs, "x", "w1", "b1", "w2", "b2")
    return {"y": np.log(softmax_rows(exact_gelu(x @ w1 + b1) @ w2 + b2))}


def evaluate(inputs, params):
    x, w = arrays(inputs, "x", "w")
    z = x @ w.T
    p = softmax_rows(z)
    loss = np.zeros(len(z))
    for i, t in enumerate(inputs["target"]):
        if t != -1:
            loss[i] = -np.log(p[i, t]) if 0 <= t < z.shape[1] else np.inf
    return {"loss": loss, "label": z.argmax(1).astype(np.int32), "top": z.max(1), "total": z.sum(1)}


def linear_backward(inputs, params):
    x, w, dy = arrays(inputs, "x", "w", "dy")
    return {"dx": dy @ w.T, "dw": x.T @ dy, "db": dy.sum(0)}


def column_softmax(inputs, params):
    return {"y": softmax_rows(f64(inputs["x"]).T).T}


def batch_chain(inputs, params):
    a, b, c = arrays(inputs, "a", "b", "c")
    return {"d": np.einsum("nij,njk,nkl->nil", a, b, c)}


def activations(inputs, params):
    x = f64(inputs["x"])
    return {
        "y_relu": np.where(x > 0, x, 0),
        "y_relu6": np.clip(x, 0, 6),
        "y_leaky_relu": np.where(x > 0, x, 0.1 * x),
        "y_elu": np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        "y_sigmoid": sigmoid_of(x),
        "y_log_sigmoid": np.log(sigmoid_of(x)),
        "y_silu": x * sigmoid_of(x),
        "y_softplus": -np.log(sigmoid_of(-x)),
        "y_softsign": x / (1 + np.abs(x)),
        "y_gelu": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        "y_gelu_erf": exact_gelu(x),
        "y_hard_sigmoid": np.clip(x / 6 + 0.5, 0, 1),
        "y_hard_swish": x * np.clip(x / 6 + 0.5, 0, 1),
    }


def numbers(inputs, params):
    x, p = arrays(inputs, "x", "p")
    return {
        "y_square": x**2,
        "y_cube": x**3,
        "y_reciprocal": 1 / x,
        "y_sign": np.sign(x),
        "y_heaviside": np.heaviside(x, 0),
        "y_clip": np.clip(x, -0.5, 0.75),
        "y_logit": np.log(p / (1 - p)),
        "y_radians": np.deg2rad(x),
        "y_degrees": np.rad2deg(x),
    }


def pairs(inputs, params):
    a, b = arrays(inputs, "a", "b")
    s = params["s"]
    return {
        "y_add": a + b,
        "y_subtract": a - b,
        "y_multiply": a * b,
        "y_divide": a / b,
        "y_maximum": np.maximum(a, b),
        "y_minimum": np.minimum(a, b),
        "y_axpy": s * a + b,
        "y_lerp": a + s * (b - a),
        "y_logaddexp": np.logaddexp(a, b),
    }
