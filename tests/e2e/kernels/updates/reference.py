"""Updates by NumPy's ufunc.at, of what lies inside."""

import numpy as np


def apply(ufunc, start, dtype, at, values):
    """In Python's integers or f64, which wrap or round at the end."""
    inside = (at >= 0) & (at < 7)
    result = np.full(7, start, dtype=dtype)
    ufunc.at(result, at[inside], values[inside].astype(dtype))
    return result


def sums(inputs, params):
    at, w, d, h = (inputs[name] for name in ("at", "w", "d", "h"))
    return {"s": apply(np.add, 0, np.float64, at, w), "t": apply(np.add, 0, np.float64, at, d),
            "g": apply(np.add, 0, np.float64, at, h), "all": np.array([d.sum(dtype=np.float64)])}


def unordered_sums(inputs, params):
    at, w, d = (inputs[name] for name in ("at", "w", "d"))
    return {"s": apply(np.add, 0, np.float64, at, w), "t": apply(np.add, 0, np.float64, at, d)}


def others(inputs, params):
    at, w, n = (inputs[name] for name in ("at", "w", "n"))
    ones = np.ones_like(at)
    wide = n.astype(np.int64)
    low = (wide & 255).astype(np.uint8)
    with np.errstate(over="ignore"):
        return {"c": apply(np.add, 0, np.int32, at, ones), "e": apply(np.add, 0, np.int64, at, n),
                "b": apply(np.add, 0, np.int8, at, n.astype(np.int8)), "u": apply(np.maximum, 0, np.uint8, at, low),
                "l": apply(np.minimum, 32767, np.int16, at, n.astype(np.int16)),
                "m": apply(np.maximum, -np.inf, np.float32, at, w), "k": apply(np.minimum, np.inf, np.float32, at, w),
                "o": apply(np.logical_or, False, np.bool_, at, w > 2),
                "x": apply(np.bitwise_xor, 0, np.uint32, at, n.astype(np.uint32)),
                "a": apply(np.bitwise_and, -1, np.int64, at, n),
                "p": apply(np.multiply, 1, np.int32, at, n),
                "r": apply(np.maximum, 0, np.uint64, at, wide & 65535)}


def columns(inputs, params):
    x = inputs["x"]
    return {"s": x.sum(0, dtype=np.float64), "t": x.max(0, initial=-np.inf)}


def kept(inputs, params):
    x, w = inputs["x"], inputs["w"]
    return {"s": x.sum((0, 1), dtype=np.float64), "t": w.min(0, initial=np.inf),
            "m": x.max((0, 1), initial=-np.inf)}


def kept_planes(inputs, params):
    x, y = inputs["x"], inputs["y"]
    return {"s": np.einsum("bn,bnk->kbn", x.sum(1, dtype=np.float64), y)}


def not_kept(inputs, params):
    r = inputs["x"].sum(0, dtype=np.float64)
    return {"s": np.concatenate([[0, 0], r, [0]]), "d": np.diag(r)}


def eighths(inputs, params):
    at, n = inputs["at"], inputs["n"]
    least = apply(np.minimum, np.inf, np.float64, at, n)
    return {"y": np.where(np.isinf(least), np.nan, least), "z": apply(np.maximum, -np.inf, np.float64, at, n)}
