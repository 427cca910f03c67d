"""Contractions in double precision, of numbers that are rounded where the language says so."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def tf32(a):
    bits = np.asarray(a, dtype=np.float32).view(np.uint32)
    return f64(((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).view(np.float32))


def half_like(original, a):
    """a rounded to the type of `original`, bf16 of which comes as f32."""
    a = np.asarray(a, dtype=np.float32)
    if original.dtype == np.float16:
        return f64(a.astype(np.float16))
    bits = a.view(np.uint32)
    return f64(((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32))


def along(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"]).T}


def eights(inputs, params):
    return {"c": np.maximum(f64(inputs["a"]) @ f64(inputs["b"]).T + inputs["r"], 0)}


eights_wide = eights
eights_split = eights


def across(inputs, params):
    return {"c": f64(inputs["a"]).T @ f64(inputs["b"])}


def rounded(inputs, params):
    return {"c": tf32(inputs["a"]) @ tf32(inputs["b"])}


def threefold(inputs, params):
    return {"c": f64(inputs["a"]).T @ f64(inputs["b"]).T}


def doubles(inputs, params):
    return {"c": f64(inputs["a"]) @ f64(inputs["b"])}


mixed = doubles


def integers(inputs, params):
    return {"c": inputs["a"].astype(np.int32) @ inputs["b"].astype(np.int32).T}


integers_split = integers
integers_odd = integers


def integers_across(inputs, params):
    return {"c": inputs["b"].astype(np.int32).T @ inputs["a"].astype(np.int32)}


def prologue(inputs, params):
    a = np.maximum(np.asarray(inputs["a"], np.float32), 0) * inputs["s"]
    return {"c": half_like(inputs["a"], a) @ f64(inputs["b"])}


def batches(inputs, params):
    return {"c": np.einsum("nik,knj->nij", f64(inputs["a"]), f64(inputs["b"]))}


def causal(inputs, params):
    s = f64(inputs["q"]) @ f64(inputs["k"]).T
    v = np.where(inputs["v"] > params["big"], np.inf, f64(inputs["v"]))
    with np.errstate(invalid="ignore"):
        products = s[:, :, None] * v[None]
        rows, columns = np.indices(s.shape)
        return {"o": np.where((columns <= rows)[:, :, None], products, 0).sum(1)}


def widened(inputs, params):
    return {"y": (f64(inputs["a"]) @ f64(inputs["b"]))[:, :, None] + inputs["w"]}
