"""Minima and maxima: of three integers, in 64 bits, where -128 of i8 and its like don't occur; of zeros and NaN."""

import numpy as np


def extremes(inputs, params):
    x, y, z = (inputs[name].astype(np.int64) for name in "xyz")
    results = {"most": np.maximum(z, np.maximum(y, -x)), "least": np.minimum(np.minimum(-y, x), z),
               "inner": np.maximum(-x, np.maximum(-y, -z)),
               "last": np.minimum(x, np.maximum(np.abs(y), np.minimum(-z, np.maximum(x, -y))))}
    return {name: result.astype(inputs["x"].dtype) for name, result in results.items()}


def differences(inputs, params):
    x, y, z = (inputs[name].astype(np.int64) for name in "xyz")
    most, least = np.maximum(x, y), np.minimum(x, y)
    results = {"a": np.minimum(z, 3 - most), "b": np.maximum(z, 3 - least), "c": np.minimum(z, 5 - x),
               "d": np.maximum(z - y, x), "e": np.maximum(7 - least, z - most),
               "f": np.maximum(x, np.minimum(2 - most, 9 - z)), "g": np.minimum(z, np.minimum(y, -2 * x)),
               "h": np.maximum(z, np.maximum(y, -4 * x))}
    return {name: result.astype(inputs["x"].dtype) for name, result in results.items()}


def zeros_of(inputs, params):
    k = inputs["k"]
    # By order: NaN apart, and -0 just below 0.
    order = np.array([0.0, -0.25, np.nan, 1.0, -1.0])

    def signs(order):
        return np.where(np.isnan(order), 9, np.where(order < 0, -1, 1)).astype(np.float64)
    a, b, c, d = order[k % 5], order[k // 5 % 5], order[k % 3], order[k % 2]
    return {"fmost": signs(np.fmax(a, b)), "fleast": signs(np.fmin(a, b)), "most": signs(np.maximum(a, b)),
            "least": signs(np.minimum(a, b)),
            # Of nothing but NaN the identity is left.
            "frow": signs(np.fmax.reduce(c, axis=1, initial=-np.inf)),
            "frow2": signs(np.fmin.reduce(c, axis=1, initial=np.inf)),
            "row": signs(d.max(1)), "row2": signs(d.min(1)),
            "folded": np.full(len(k), 1 - 2 + 4 - 8.0)}
