#!/usr/bin/env python3
"""Times of products under many schedules, for tile_fit_products (FitProducts.cpp), as lines of CSV.

    sweep_products.py TILEC [--size MxNxK]… [--runs N] > times.csv

Products of products.tile (nn, bf16) with all blocks of tensor cores of i, j, k and split below that the compiler makes a
pipeline of. Those of a size take turns in a random order, N rounds, each a CUDA graph of as many launches as take a while;
times are medians, in seconds. Needs torch and a device of compute capability 9.0.
"""

import argparse
import itertools
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = ("4096x4096x4096", "8192x8192x1024", "1408x3072x4096", "512x512x16384", "64x8192x8192", "2048x2048x2048")
BLOCKS = list(itertools.product((64, 128, 256), (64, 128, 192, 256), (64, 128), (1, 2, 4, 8)))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilec")
    parser.add_argument("--size", action="append", dest="sizes", metavar="MxNxK")
    parser.add_argument("--runs", type=int, default=10)
    return parser.parse_args()


options = parse_options()  # --help needs nothing of what follows

import torch

from ptx_kernels import Kernel, measure


def compiled(folder, dims, block):
    """The kernel, or None where the blocks are none for a pipeline."""
    output = folder / f"{'-'.join(map(str, block))}.ptx"
    sets = [f"--set={name}={size}" for name, size in zip(("i", "j", "k", "split"), block)]
    made = subprocess.run([options.tilec, "compile", f"{ROOT / 'tests/bench/products.tile'}:nn", "--emit=ptx", "--target=sm_90a",
                           "--bind", "T=bf16", "-o", output, *(f"--dim={name}={size}" for name, size in zip("MNK", dims)), *sets],
                          capture_output=True, text=True)
    if made.returncode or "no pipeline" in made.stderr:
        return None
    kernel = Kernel(output)
    return kernel if kernel.maps else None


def main(folder):
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    print(f"# {torch.cuda.get_device_name()}")
    print("rows,columns,depth,bytes,i,j,k,split,seconds")
    for size in options.sizes or SIZES:
        dims = tuple(map(int, size.split("x")))
        m, n, k = dims
        a, b = (torch.randn(*shape, device="cuda", dtype=torch.bfloat16) for shape in ((m, k), (k, n)))
        c = torch.full((m, n), math.nan, device="cuda", dtype=torch.bfloat16)
        # Whoever splits a contraction splits a long one of few blocks.
        blocks = [block for block in BLOCKS if block[3] == 1 or m * n <= 2048 * 2048]
        kernels = {block: kernel for block in blocks if (kernel := compiled(folder, dims, block))}
        calls = {block: kernel.prepare([a, b, c], dims, processors) for block, kernel in kernels.items()}
        wanted = (a.double() @ b.double())
        bound = wanted.abs() * 2**-8 + (a.double().abs() @ b.double().abs()) * 2**-20
        for block, call in calls.items():
            c.fill_(math.nan)
            call()
            if not ((c.double() - wanted).abs() <= bound).all():
                sys.exit(f"{size}: {block} has wrong results")
        for block, time in measure(calls, options.runs, 2 * m * n * k).items():
            print(",".join(map(str, (m, n, k, 2, *block, f"{time / 1e3:.4g}"))), flush=True)


with tempfile.TemporaryDirectory() as place:
    main(pathlib.Path(place))
