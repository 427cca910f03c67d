"""What the expressions say, in double precision."""

import numpy as np


def beside_a_call(inputs, params):
    return {"y": inputs["t1"].astype(np.float64) + inputs["x"].T}


def residual(inputs, params):
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return {"y": p + p @ w}


def twice(inputs, params):
    t = inputs["t1"].astype(np.float64)
    return {"y": t - t.T}


def constants(inputs, params):
    return {"y": inputs["x"].T.astype(np.float64) * 3 + 5 - 7}


def a_map(inputs, params):
    x, z = inputs["x"].astype(np.float64), inputs["z"].astype(np.float64)
    return {"result": x + 1 + z + x.T + params["result_2"]}


def a_dimension(inputs, params):
    x = inputs["x"].astype(np.float64)
    return {"y": x.T * (1 + len(x)) + params["t3"]}
