"""Lesson 12 in double precision: minus the logarithm of the target's probability."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def cross_entropy(inputs, params):
    x, target = f64(inputs["x"]), inputs["target"]
    ignored = params.get("ignored", -100)
    loss = np.zeros(len(x))
    for i, t in enumerate(target):
        if t == ignored:
            continue
        p = np.exp(x[i] - x[i].max())
        loss[i] = -np.log(p[t] / p.sum()) if 0 <= t < x.shape[1] else np.inf
    count = np.array([(target != ignored).sum()], np.int32)
    return {"loss": loss, "total": np.array([loss.sum()]), "count": count}
