"""Lesson 5 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def matmul(inputs, params):
    return {"y": f64(inputs["x"]) @ f64(inputs["w"])}


def matmul_bias(inputs, params):
    return {"y": np.maximum(f64(inputs["x"]) @ f64(inputs["w"]) + f64(inputs["b"]), 0)}


layer = matmul_bias
product = matmul
