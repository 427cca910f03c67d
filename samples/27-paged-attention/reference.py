"""Lesson 27 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def paged_attention(inputs, params):
    q, kc, vc = (f64(inputs[name]) for name in ("q", "kc", "vc"))
    table, length = inputs["table"], inputs["len"]
    batch, heads, width = q.shape
    page, groups = kc.shape[1], kc.shape[2]
    o = np.zeros_like(q)
    for b in range(batch):
        t = np.arange(min(length[b], table.shape[1] * page))
        k, v = kc[table[b, t // page], t % page], vc[table[b, t // page], t % page]
        for h in range(heads if len(t) else 0):
            g = h // (heads // groups)
            s = k[:, g] @ q[b, h] * params["scale"]
            p = np.exp(s - s.max())
            o[b, h] = p @ v[:, g] / p.sum()
    return {"o": o}
