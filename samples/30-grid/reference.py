"""Lesson 30, one value at a time."""

import numpy as np


def count(inputs, params):
    h = inputs["h"].copy()
    for value in inputs["x"]:
        if 0 <= value < len(h):
            h[value] += 1
    return {"h": h}


def positives(inputs, params):
    x, y, n = inputs["x"], inputs["y"].copy(), inputs["n"].copy()
    positive = x[x > 0]
    y[n[0]:n[0] + len(positive)] = positive
    return {"sorted": np.sort(y), "count": n + len(positive)}


def components(inputs, params):
    label = np.arange(len(inputs["mark"]), dtype=np.int32)
    changed = True
    while changed:
        changed = False
        for a, b in zip(inputs["from"], inputs["to"]):
            low = min(label[a], label[b])
            changed |= label[a] != label[b]
            label[a] = label[b] = low
    return {"label": label}


def roots(inputs, params):
    label = []
    for v in inputs["parent"]:
        while inputs["parent"][v] != v:
            v = inputs["parent"][v]
        label.append(v)
    return {"label": np.array(label, np.int32)}
