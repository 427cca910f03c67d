#!/usr/bin/env python3
"""How long Triton takes from a kernel's source to its code on a GPU; beside tile_bench_gpu_compile.

    compile_triton.py [ROUNDS]

Kernels take turns, 31 rounds, each time with another constant, so that nothing comes from a cache, in a process
that has compiled before. Medians, in milliseconds. Needs torch and Triton.
"""

import statistics
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def chain(x, y, z, n, B: tl.constexpr, SALT: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    inside = at < n
    t = tl.load(x + at, inside) + tl.load(y + at, inside)
    tl.store(z + at, tl.sigmoid(tl.maximum(t * 2, 0) - 1), inside)


@triton.jit
def softmax(x, y, z, n, B: tl.constexpr, SALT: tl.constexpr):
    column = tl.arange(0, B)
    at = tl.program_id(0).to(tl.int64) * n + column
    t = tl.load(x + at, column < n, -float("inf"))
    e = tl.exp(t - tl.max(t, 0))
    tl.store(z + at, e / tl.sum(e, 0), column < n)


@triton.jit
def layer_norm(x, y, z, n, B: tl.constexpr, SALT: tl.constexpr):
    column = tl.arange(0, B)
    inside = column < n
    at = tl.program_id(0).to(tl.int64) * n + column
    t = tl.load(x + at, inside, 0)
    d = tl.where(inside, t - tl.sum(t, 0) / n, 0)
    d = d * tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5) * tl.load(y + column, inside) + tl.load(y + n + column, inside)
    tl.store(z + at, d, inside)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 31
    x, y, z = (torch.randn(1 << 20, device="cuda") for _ in range(3))
    kernels = {chain: (2048, 8), softmax: (4096, 8), layer_norm: (4096, 8)}
    times = {kernel: [] for kernel in kernels}
    stamp = time.time_ns() % (1 << 40) * 1000
    for number in range(-2, rounds):  # two to warm up
        for kernel, (block, warps) in kernels.items():
            start = time.perf_counter()
            compiled = kernel.warmup(x, y, z, 4096, B=block, SALT=stamp + number, num_warps=warps, grid=(1,))
            compiled._init_handles()  # loads it
            if number >= 0:
                times[kernel].append(1e3 * (time.perf_counter() - start))
    print(f"triton {triton.__version__}, ms")
    for kernel, own in times.items():
        print(f"{kernel.fn.__name__:12}{statistics.median(own):10.2f}")


sys.exit(main())
