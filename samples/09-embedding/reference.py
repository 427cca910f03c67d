"""Lesson 9 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def embedding(inputs, params):
    ids, table, pos = inputs["ids"], f64(inputs["table"]), f64(inputs["pos"])
    y = np.zeros(ids.shape + table.shape[1:])
    for b, s in np.ndindex(*ids.shape):
        y[b, s] = pos[s]
        if 0 <= ids[b, s] < len(table):
            y[b, s] += table[ids[b, s]]
    return {"y": y}
