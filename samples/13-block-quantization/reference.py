"""Lesson 13 for one group at a time.

Which integer or code an element becomes is decided in single precision, so the reference divides and multiplies in it too;
those operations are exact up to one rounding everywhere.
"""

import numpy as np

GROUP = 128


def quantize(inputs, params):
    x = np.asarray(inputs["x"], np.float32)
    rows, width = x.shape
    groups = (width + GROUP - 1) // GROUP
    q, s = np.zeros((rows, width), np.int8), np.zeros((rows, groups))
    for i, g in np.ndindex(rows, groups):
        part = slice(g * GROUP, min((g + 1) * GROUP, width))
        top = np.abs(x[i, part]).max()
        if top > 0:
            q[i, part] = np.rint(x[i, part] * (np.float32(127) / top)).astype(np.int8)
        s[i, g] = np.float64(top) / 127
    return {"q": q, "s": s}


def dequantize(inputs, params):
    q, s = np.asarray(inputs["q"], np.float64), np.asarray(inputs["s"], np.float64)
    x = np.zeros(q.shape)
    for i, k in np.ndindex(*q.shape):
        x[i, k] = q[i, k] * s[i, k // GROUP]
    return {"x": x}


# The numbers of f8e4m3 from 0 to 448 in order, so that the code of a number is its position: four bits of exponent,
# whose least value holds the subnormals, and three of mantissa.
CODES = np.array([(8 + m if e else m) * 2.0 ** (max(e, 1) - 10) for e in range(16) for m in range(8)][:-1])


def to_f8e4m3(v):
    """The codes of the nearest numbers, even codes on ties; beyond the last one the last."""
    v = np.float64(v)
    above = np.minimum(np.searchsorted(CODES, np.abs(v)), len(CODES) - 1)
    below = np.maximum(above - 1, 0)
    down, up = np.abs(v) - CODES[below], CODES[above] - np.abs(v)
    code = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    return (code | np.where(np.signbit(v), 128, 0)).astype(np.uint8)


def quantize_f8(inputs, params):
    x = np.asarray(inputs["x"], np.float32)
    rows, width = x.shape
    groups = (width + GROUP - 1) // GROUP
    q, s = np.zeros((rows, width), np.uint8), np.zeros((rows, groups))
    for i, g in np.ndindex(rows, groups):
        part = slice(g * GROUP, min((g + 1) * GROUP, width))
        scale = np.abs(x[i, part]).max() / np.float32(448)
        inverse = np.float32(1) / scale if scale > 0 else np.float32(0)
        q[i, part] = to_f8e4m3(x[i, part] * inverse)
        s[i, g] = scale
    return {"q": q, "s": s}
