#!/usr/bin/env python3
"""Trains the digit classifier once and writes its weights and held-out images as .npy files beside this script.

The images are the UCI "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and C. Kaynak, 1998,
CC BY 4.0): 1797 images of 8x8 pixels, as the package scikit-learn ships them.

    python3 -m venv /tmp/digits && /tmp/digits/bin/pip install scikit-learn numpy
    /tmp/digits/bin/python samples/digits/train.py

The seed is fixed; another NumPy or BLAS may still round differently and give weights that differ in the last digits.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SEED = 20
HELD_OUT = 360
LAYERS = [64, 64, 32, 10]
EPOCHS = 150
BATCH = 32
RATE = 2e-3
DECAY = 1e-4
DROP = 0.1


def split_data(rng):
    """Images in 0..1 as [n, 64] and their labels: training set first, held-out set second."""
    digits = load_digits()
    x = (digits.data / 16.0).astype(np.float64)
    order = rng.permutation(len(x))
    x, label = x[order], digits.target[order]
    return (x[HELD_OUT:], label[HELD_OUT:]), (x[:HELD_OUT], label[:HELD_OUT])


def shift_images(x, rng):
    """Each image moved by at most one pixel: handwriting isn't centred exactly."""
    images = np.pad(x.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    dy, dx = rng.integers(0, 3, (2, len(x), 1, 1))
    dy[rng.random((len(x), 1, 1)) < 0.5] = 1
    dx[rng.random((len(x), 1, 1)) < 0.5] = 1
    row, column = np.arange(8)[None, :, None] + dy, np.arange(8)[None, None, :] + dx
    return images[np.arange(len(x))[:, None, None], row, column].reshape(-1, 64)


def forward(x, weights, rng=None):
    """The values of every layer; with `rng`, hidden units are dropped at random as in training."""
    values = [x]
    for number, (w, b) in enumerate(weights):
        z = values[-1] @ w + b
        if number + 1 < len(weights):
            z = np.maximum(z, 0)
            if rng is not None:
                z *= (rng.random(z.shape) >= DROP) / (1 - DROP)
        values.append(z)
    return values


def gradients(values, label, weights):
    """Of the mean cross entropy, by every weight and bias."""
    z = values[-1]
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(label)), label] -= 1
    dz = p / len(label)
    grads = []
    for number in reversed(range(len(weights))):
        grads.append((values[number].T @ dz, dz.sum(0)))
        if number > 0:
            alive = values[number] > 0
            dz = (dz @ weights[number][0].T) * alive / (1 - DROP)
    return grads[::-1]


def train(x, label, rng):
    """Adam with decoupled weight decay and a rate that falls to zero along a half cosine."""
    weights = [[rng.normal(0, np.sqrt(2 / m), (m, n)), np.zeros(n)] for m, n in zip(LAYERS, LAYERS[1:])]
    first = [[np.zeros_like(a) for a in pair] for pair in weights]
    second = [[np.zeros_like(a) for a in pair] for pair in weights]
    steps = EPOCHS * (len(x) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for at in range(0, len(x) - BATCH + 1, BATCH):
            pick = order[at : at + BATCH]
            values = forward(shift_images(x[pick], rng), weights, rng)
            grads = gradients(values, label[pick], weights)
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for pair, m, v, g in zip(weights, first, second, grads):
                for i in range(2):
                    m[i] = 0.9 * m[i] + 0.1 * g[i]
                    v[i] = 0.999 * v[i] + 0.001 * g[i] ** 2
                    move = m[i] / (1 - 0.9**step) / (np.sqrt(v[i] / (1 - 0.999**step)) + 1e-8)
                    pair[i] = pair[i] - rate * (move + DECAY * pair[i])
    return weights


def main():
    rng = np.random.default_rng(SEED)
    (x, label), (held_x, held_label) = split_data(rng)
    weights = train(x, label, rng)

    here = Path(__file__).resolve().parent
    files = {"images": held_x.astype(np.float32), "labels": held_label.astype(np.int32)}
    for number, (w, b) in enumerate(weights, 1):
        files[f"w{number}"] = w.astype(np.float32)
        files[f"b{number}"] = b.astype(np.float32)
    for name, array in files.items():
        np.save(here / f"{name}.npy", np.ascontiguousarray(array))

    stored = [(files[f"w{n}"].astype(np.float64), files[f"b{n}"].astype(np.float64)) for n in range(1, len(LAYERS))]
    for name, images, truth in [("training", x, label), ("held-out", files["images"].astype(np.float64), held_label)]:
        right = int((forward(images, stored)[-1].argmax(1) == truth).sum())
        print(f"{name}: {right} of {len(truth)} right ({100 * right / len(truth):.2f} %)")


if __name__ == "__main__":
    main()
