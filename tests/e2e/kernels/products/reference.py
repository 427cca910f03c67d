"""Products in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def tf32(a):
    bits = np.asarray(a, dtype=np.float32).view(np.uint32)
    return f64(((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).view(np.float32))


def nn(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"])}


def nt(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"]).T}


def tn(inputs, params):
    return {"c": f64(inputs["a"]).T @ f64(inputs["b"])}


def tt(inputs, params):
    return {"c": f64(inputs["b"]) @ f64(inputs["a"])}


batched = nn


def layer(inputs, params):
    z = f64(inputs["x"]) @ f64(inputs["w"]) + f64(inputs["b"])
    return {"y": np.maximum(z, 0) + f64(inputs["r"]), "z": z}


def rows(inputs, params):
    product = f64(inputs["x"]) @ f64(inputs["w"])
    return {"y": product / (np.abs(product).sum(1, keepdims=True) + 1)}


def numbered(inputs, params):
    product = f64(inputs["a"]) @ f64(inputs["b"]).T
    return {"c": product * np.arange(1, len(product) + 1)[:, None, None]}


def heads(inputs, params):
    return {"c": f64(inputs["s"])[:, None, None] * (f64(inputs["a"]) @ f64(inputs["b"]).T)}


def diagonal(inputs, params):
    return {"c": np.einsum("iik,jk->ij", f64(inputs["a"]), f64(inputs["b"]))}


def rounded(inputs, params):
    product = tf32(inputs["a"]) @ tf32(inputs["b"]).T
    return {"c": np.maximum(product, 0) + inputs["r"]}


split_nt = nt


def split_layer(inputs, params):
    z = f64(inputs["r"]) + f64(inputs["x"]) @ f64(inputs["w"])
    return {"y": np.maximum(z + f64(inputs["b"]), 0), "z": z}


split_batched = nn


def begun_across(inputs, params):
    return {"c": f64(inputs["s"]).T + nt(inputs, params)["c"]}


def twice(inputs, params):
    both = f64(inputs["a"]) @ f64(inputs["b"]).T + f64(inputs["d"]) @ f64(inputs["e"]).T
    return {"c": both * f64(inputs["s"]).sum()}


def far(inputs, params):
    x, w = f64(inputs["x"]), f64(inputs["w"])
    y = np.zeros((len(inputs["there"]), 64, len(w)))
    for p, first in enumerate((inputs["there"].astype(np.int64) - inputs["back"].astype(np.int64)) * 4294967296):
        for r in range(64):
            if 0 <= first + r < len(x):
                y[p, r] = w @ x[first + r]
    return {"y": y.reshape(-1, len(w))}


def odd_layer(inputs, params):
    return layer(inputs | {"w": inputs["w"].T}, params)


def wide(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"]).T * inputs["h"]}


def scattered(inputs, params):
    rows = f64(inputs["a"]) @ f64(inputs["b"]).T
    first = f64(inputs["first"])
    at = np.clip(inputs["at"], 0, len(first) - 1)
    c = np.zeros((len(first), rows.shape[1]))
    np.add.at(c, at, rows * first[at][:, None])
    return {"c": c}


odd_nn = nn
odd_rounded = rounded


entire = nn
entire_i8 = nt
entire_x3 = nt


def entire_biased(inputs, params):
    return {"c": (f64(inputs["a"]) @ f64(inputs["b"]) + f64(inputs["bias"])) * f64(inputs["r"])}


def summed(inputs, params):
    return {"c": f64(inputs["a"]) @ (f64(inputs["b"]) + f64(inputs["d"]).T) + 1}


def gated(inputs, params):
    x = f64(inputs["x"])
    return {"y": np.maximum(x @ f64(inputs["w"]), 0) * (2 * x @ f64(inputs["v"]))}


def chained(inputs, params):
    return {"y": f64(inputs["a"]) @ f64(inputs["b"]).T + f64(inputs["c"]) @ f64(inputs["d"])}


def divided(inputs, params):
    x = f64(inputs["x"])
    rest = np.where(x == x.max(1, keepdims=True, initial=-np.inf), 0, x)
    return {"y": rest @ f64(inputs["w"]) / (np.abs(x).sum(1, keepdims=True) + 1)}


def onto(inputs, params):
    return {"c": np.maximum(f64(inputs["c"]), 0) + f64(inputs["a"]) @ f64(inputs["b"]).T}


def onto_both(inputs, params):
    p = (f64(inputs["a"]) @ f64(inputs["b"])) * f64(inputs["s"]) + f64(inputs["d"])
    return {"d": p, "c": p + f64(inputs["c"])}


def fewer(inputs, params):
    a, b = f64(inputs["a"]), f64(inputs["b"])
    parts = [max(0, int(length)) for length in inputs["lengths"]]
    return {"c": np.stack([x[:, :part] @ y[:, :part].T for x, y, part in zip(a, b, parts)])}


def gate(inputs, params):
    h = f64(inputs["x"]) @ f64(inputs["w"]).T + f64(inputs["b"])
    return {"y": h / (1 + np.exp(-h)) * f64(inputs["g"])}


def both_ways(inputs, params):
    c = f64(inputs["a"]) @ f64(inputs["b"]).T
    return {"c": c, "d": c.T, "e": 2 * c.T}


def several(inputs, params):
    h = f64(inputs["x"]) @ f64(inputs["w"]).T
    return {
        "a": h, "b": np.sin(h / 8), "c": np.exp(h / 16), "d": h * h, "e": np.maximum(h, 0), "f": np.tanh(h)
    }  # fmt: skip


def waved(inputs, params):
    product = f64(inputs["a"]) @ f64(inputs["b"]).T
    return {"c": product * np.sin(f64(inputs["s"]))[:, None] + np.cos(f64(inputs["t"]))}


def f8_layer(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"]).T + f64(inputs["r"])}


def normed(inputs, params):
    h = f64(inputs["x"]) @ f64(inputs["w"]).T
    d = h - h.mean(1, keepdims=True)
    v = (d * d).mean(1, keepdims=True)
    return {"y": d / np.sqrt(v + 1) * f64(inputs["g"]) + f64(inputs["b"])}


def onto_across(inputs, params):
    return {"c": f64(inputs["c"]) - f64(inputs["b"]) @ f64(inputs["a"]).T}


def tower(inputs, params):
    def bf16(a):
        bits = np.asarray(a, dtype=np.float32).view(np.uint32)
        return f64(((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32))

    x, w = f64(inputs["x"]), f64(inputs["w"])
    a, b = bf16(x @ w), bf16(w @ x)
    return {"y": bf16(bf16(a @ b.T) @ a)}
