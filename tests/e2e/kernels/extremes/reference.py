"""Minima and maxima of three integers, in 64 bits; -128 of i8 and its like don't occur."""

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
