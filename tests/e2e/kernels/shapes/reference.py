"""Elements moved by NumPy."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def flips(inputs, params):
    x = f64(inputs["x"])
    return {"y": (x * 2 + 1)[:, ::-1] - np.cumsum(x, axis=1)[:, ::-1], "z": inputs["u"][:, ::-1], "w": x}


def flipped_columns(inputs, params):
    return {"y": inputs["x"][::-1]}


def reshaped(inputs, params):
    x, a, b = (f64(inputs[name]) for name in "xab")
    two = x.reshape(len(x), len(a), len(b)) + a[:, None] * b
    turned = two.transpose(0, 2, 1)
    return {"y": turned, "z": turned.reshape(x.shape)}


def regrouped(inputs, params):
    x = inputs["x"]
    return {"y": x.reshape(len(x), 6, x[0].size // 6 if len(x) else int(np.prod(x.shape[1:])) // 6)}


def narrow_concatenated(inputs, params):
    x, y = (inputs[name].astype(np.float64) for name in ("x", "y"))
    e = np.exp(x) / (1 + np.abs(x))
    return {"z": np.concatenate([e, np.tanh(y) - 1, e], axis=1)}


def concatenated(inputs, params):
    x, y = f64(inputs["x"]), f64(inputs["y"])
    return {"z": np.concatenate([x, y], 1), "w": np.concatenate([np.cumsum(x, axis=1), -y, x], 1)}


def complex_products(inputs, params):
    x, y, v = f64(inputs["x"]), f64(inputs["y"]), inputs["v"]
    product = (x[:, 0] + 1j * x[:, 1]) * 2 * (y[:, 0] + 1j * y[:, 1])
    return {"z": np.stack([product.real, product.imag], 1),
            "t": np.stack([v[:, 2], v[:, 0] + v[:, 1], 7 * v[:, 1]], 1)}
