"""Lesson 29: Philox4x32-10 written down from the paper, and what is drawn with it."""

import numpy as np


def f64(a):
    return np.asarray(a, dtype=np.float64)


def words(seed, stream, count):
    """The 32-bit words of the draws 0 to count - 1, and of those that fill their block: four a block."""
    index, low = np.arange((count + 3) // 4, dtype=np.uint64), np.uint64(0xFFFFFFFF)
    both = [np.full(len(index), value % 2**64, np.uint64) for value in (stream, seed)]
    c0, c1, c2, c3 = index & low, index >> np.uint64(32), both[0] & low, both[0] >> np.uint64(32)
    k0, k1 = both[1] & low, both[1] >> np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (p1 >> np.uint64(32)) ^ c1 ^ k0, p1 & low, (p0 >> np.uint64(32)) ^ c3 ^ k1, p0 & low
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    return np.stack([c0, c1, c2, c3], axis=1).reshape(-1)


def uniform(seed, stream, shape):
    count = int(np.prod(shape))
    return ((words(seed, stream, count)[:count] >> np.uint64(8)) * 2.0**-24).reshape(shape)


def normal(seed, stream, shape):
    count = int(np.prod(shape))
    top = words(seed, stream, count) >> np.uint64(8)
    u, v = (top[0::2] + np.uint64(1)) * 2.0**-24, top[1::2] * 2.0**-24
    # Box and Muller: of a pair of draws the even one has the cosine, the odd one the sine.
    pair = np.stack([np.cos(2 * np.pi * v), np.sin(2 * np.pi * v)], axis=1)
    return (np.sqrt(-2 * np.log(u))[:, None] * pair).reshape(-1)[:count].reshape(shape)


def dropped(x, p, seed, layer):
    # p is a single-precision number, and so are the random ones: the comparison is exact.
    p = float(np.float32(p))
    return np.where(uniform(seed, layer, x.shape) < p, 0, f64(x) / (1 - p))


def layers(inputs, params):
    x, w = inputs["x"], f64(inputs["w"])
    h = dropped(x, params["p"], params["seed"], 0)
    return {"y": dropped(h @ w / np.sqrt(x.shape[1]), params["p"], params["seed"], 1)}


def scaled_matmul(inputs, params):
    return {"c": params["s"] * (f64(inputs["a"]) @ f64(inputs["b"]))}


def dropout_backward(inputs, params):
    return {"dx": dropped(inputs["dy"], params["p"], params["seed"], params["layer"])}


def walks(inputs, params):
    start = f64(inputs["start"])
    shape = len(start), params.get("T", 100)
    return {"path": start[:, None] + np.cumsum(np.float32(params["scale"]) * normal(params["seed"], 0, shape), 1)}


def pick(inputs, params):
    x = inputs["x"]
    at = (words(params["seed"], 0, len(x))[: len(x)] * np.uint64(x.shape[1])) >> np.uint64(32)
    return {"y": f64(x[np.arange(len(x)), at.astype(np.int64)]), "at": at.astype(np.uint32)}
