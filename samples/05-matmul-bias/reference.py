"""Lesson 5 in double precision."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def matmul(inputs, params):
    return {"y": f64(inputs["x"]) @ f64(inputs["w"])}


def matmul_bias(inputs, params):
    return {"y": np.maximum(f64(inputs["x"]) @ f64(inputs["w"]) + f64(inputs["b"]), 0)}


def gemm(inputs, params):
    alpha, beta = params["alpha"], params["beta"]
    return {"c": alpha * (f64(inputs["a"]) @ f64(inputs["b"])) + beta * f64(inputs["c"])}


layer = matmul_bias
product = matmul
