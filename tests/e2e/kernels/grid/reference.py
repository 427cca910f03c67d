"""Grid kernels in NumPy: the order of programs doesn't show."""

import numpy as np


def scatter_add(inputs, params):
    dw = inputs["dw"].astype(np.float64)
    np.add.at(dw, inputs["ids"], inputs["dy"].astype(np.float64))
    return {"dw": dw}


def meet(inputs, params):
    x = inputs["x"]
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    total = (inputs["total"] + wide.sum(dtype=wide.dtype)).astype(wide.dtype)
    return {"total": total, "high": np.maximum(inputs["high"], x.max(initial=inputs["high"][0])),
            "low": np.minimum(inputs["low"], x.min(initial=inputs["low"][0]))}


def meet_bits(inputs, params):
    x = inputs["x"]
    return {"all_of": inputs["all_of"] & np.bitwise_and.reduce(x), "any_of": inputs["any_of"] | np.bitwise_or.reduce(x),
            "odd": inputs["odd"] ^ np.bitwise_xor.reduce(x)}


def pass_on_total(inputs, params):
    return {"y": inputs["cell"] + inputs["sum_of_old"] + inputs["x"].sum(dtype=inputs["x"].dtype)}


def add_by_cas(inputs, params):
    x = inputs["x"]
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    return {"total": inputs["total"] + wide.sum(dtype=wide.dtype)}


def tickets(inputs, params):
    taken = inputs["next"] + np.arange(len(inputs["x"])).astype(inputs["next"].dtype)
    return {"ticket": taken, "end": inputs["next"] + np.array(len(inputs["x"])).astype(inputs["next"].dtype)}


def hash_set(inputs, params):
    keys = set(inputs["keys"].tolist()) | set(inputs["slots"].tolist())
    keys.discard(0)
    slots = np.zeros_like(inputs["slots"])
    if keys:
        slots[-len(keys):] = sorted(keys)
    return {"sorted": slots}


hash_set_of_blocks = hash_set


def message(inputs, params):
    return {"data": inputs["x"] + np.float32(1), "flag": np.ones_like(inputs["flag"]), "wrong": inputs["wrong"]}


def in_order(inputs, params):
    x = inputs["x"].astype(np.float64)
    y = x[:, ::-1] + 1
    z = x + y
    half = y[:, np.arange(y.shape[1]) // 2]
    for _ in range(3):
        y[:, 1:] = y[:, :-1].copy()
        z += y * half
    for row in y:
        if len(row) and row[0] > 0:
            row[0] = row.sum()
    return {"y": np.where(y > 0, y, z), "z": z}


def nowhere(inputs, params):
    return {"y": inputs["y"]}


def permute(inputs, params):
    x, y = inputs["x"], inputs["y"].copy()
    for c in inputs["c"]:
        to = 5 * c % 1009
        if to < len(y):
            y[to] = x[min(max(to - 1, 0), len(x) - 1)]
    return {"y": y}


def loss(inputs, params):
    y = inputs["y"].copy()
    for at, value in zip(inputs["at"], inputs["x"]):
        if 0 <= at < len(y):
            y[at] = max(y[at], value)
    return {"y": y, "total": np.array([inputs["x"].sum(dtype=np.float64)])}
