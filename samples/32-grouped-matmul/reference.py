"""Each block of rows by the matrix of its expert."""

import numpy as np


def grouped_matmul(inputs, params):
    x, w = (np.asarray(inputs[name], dtype=np.float64) for name in ("x", "w"))
    first, count, expert = (np.asarray(inputs[name], dtype=np.int64) for name in ("first", "count", "expert"))
    y = np.zeros((len(first), 128, w.shape[2]))
    for p in range(len(first)):
        if 0 <= expert[p] < len(w):
            for r in range(min(128, max(count[p], 0))):
                if 0 <= first[p] + r < len(x):
                    y[p, r] = x[first[p] + r] @ w[expert[p]]
    return {"y": y.reshape(-1, w.shape[2])}


def grouped_matmul_t(inputs, params):
    return grouped_matmul({**inputs, "w": np.swapaxes(inputs["w"], 1, 2)}, params)
