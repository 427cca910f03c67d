"""Lesson 15: nothing but moves, and one sum."""

import numpy as np


def transpose(inputs, params):
    return {"y": inputs["x"].T}


def heads_first(inputs, params):
    return {"y": inputs["x"].transpose(0, 2, 1, 3)}


def symmetric(inputs, params):
    x = np.asarray(inputs["x"], np.float64)
    return {"y": x + x.T}


def diagonal(inputs, params):
    return {"y": np.diagonal(inputs["x"])}
