#!/usr/bin/env python3
"""The kernels of samples/33-hand-written beside cuBLAS and cuDNN (both by torch) and what the compiler makes of the same
relu_matmul and of a plain matmul, in one run.

    hand_written.py TILEC [--row NAME]… [--runs N] [--json FILE]
    hand_written.py TILEC --prepare FOLDER      makes the code alone; needs no GPU
    hand_written.py --prepared FOLDER …         measures it; needs no tilec

A row is relu_matmul-N (N×N×N) or attention-BxHxSxL-full or -causal, with heads of 128. Results are compared with torch's
in double precision; then all take turns in a random order, N rounds, each a CUDA graph of as many launches as take a
while. Data is random and normal. The table has TFLOP/s by the median (of a causal row those of the half that counts), and
the share of each peer. --json keeps the results of a run, with the card. Needs torch and a device of compute capability
9.0.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "33-hand-written"
WIDTH = 128
ROWS = ("relu_matmul-4096", "relu_matmul-8192", "attention-4x16x4096x4096-full", "attention-4x16x4096x4096-causal",
        "attention-1x16x16384x16384-full", "attention-1x16x16384x16384-causal")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilec", nargs="?")
    parser.add_argument("--row", action="append", dest="rows", metavar="NAME")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--prepared", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    options.rows = options.rows or list(ROWS)
    if not options.tilec and not options.prepared:
        parser.error("tilec's path is missing")
    return options


def compile_ptx(tilec, source, output, *more):
    made = subprocess.run([tilec, "compile", source, "--emit=ptx", "--target=sm_90a", "-o", output, *more],
                          capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(made.stderr)


def prepare(tilec, rows, folder):
    for name in ("relu_matmul", "attention"):
        compile_ptx(tilec, SAMPLES / f"{name}.mlir", folder / f"{name}.ptx")
    for size in {row.split("-")[1] for row in rows if row.startswith("relu_matmul")}:
        dims = [f"--dim={dim}={size}" for dim in "MNK"]
        compile_ptx(tilec, f"{ROOT / 'tests/bench/products.tile'}:nn", folder / f"matmul-{size}.ptx", "--bind", "T=bf16", *dims)
        compile_ptx(tilec, f"{SAMPLES / 'hand_written.tile'}:relu_matmul", folder / f"compiled-{size}.ptx", *dims)


if __name__ == "__main__":
    options = parse_options()  # --help needs nothing of what follows
    if options.prepare:
        options.prepare.mkdir(parents=True, exist_ok=True)
        prepare(options.tilec, options.rows, options.prepare)
        sys.exit()

import ctypes
import math
import random

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ptx_kernels import Kernel, measure


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def verify(row, name, got, wanted, bound):
    if not ((got.double() - wanted).abs() <= bound).all():
        raise SystemExit(f"{row}: {name} has wrong results")


def matmul_row(row, folder, processors):
    """What takes part, and how many operations it is."""
    size = int(row.split("-")[1])
    a, b = normal(size, size), normal(size, size)
    outputs = {name: torch.full((size, size), math.nan, device="cuda", dtype=torch.bfloat16)
               for name in ("by hand", "compiled", "matmul", "cuBLAS")}
    dims = (size, size, size)
    calls = {"by hand": Kernel(folder / "relu_matmul.ptx").prepare([a, b, outputs["by hand"]], dims, processors),
             "compiled": Kernel(folder / f"compiled-{size}.ptx").prepare([a, b, outputs["compiled"]], dims, processors),
             "matmul": Kernel(folder / f"matmul-{size}.ptx").prepare([a, b, outputs["matmul"]], dims, processors),
             "cuBLAS": lambda: torch.mm(a, b, out=outputs["cuBLAS"])}
    rows = torch.tensor(sorted(set(random.sample(range(size), 300)) | {0, size - 1}), device="cuda")
    for name, call in calls.items():
        call()
        left = a[rows].double().relu() if name in ("by hand", "compiled") else a[rows].double()
        wanted, terms = left @ b.double(), left.abs() @ b.double().abs()
        verify(row, name, outputs[name][rows], wanted, wanted.abs() * 2**-8 + terms * 2**-20)
    return calls, 2 * size**3


def attention_row(row, folder, processors):
    shape, kind = row.split("-")[1:]
    batch, heads, queries, keys = map(int, shape.split("x"))
    causal = kind == "causal"
    q, k, v = normal(batch, heads, queries, WIDTH), normal(batch, heads, keys, WIDTH), normal(batch, heads, keys, WIDTH)
    o = torch.full_like(q, math.nan)
    scale = WIDTH**-0.5
    by_hand = Kernel(folder / "attention.ptx").prepare(
        [q, k, v, ctypes.c_float(scale), ctypes.c_bool(causal), o], (batch, heads, queries, heads, keys), processors,
        batch * heads * -(-queries // 128))

    def cudnn():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    by_hand()
    for head in random.sample(range(batch * heads), 3):
        b, h = divmod(head, heads)
        rows = torch.tensor(sorted(set(random.sample(range(queries), 300)) | {0, queries - 1}), device="cuda")
        scores = scale * (q[b, h, rows].double() @ k[b, h].double().T)
        if causal:
            scores.masked_fill_(torch.arange(keys, device="cuda")[None] > rows[:, None] + (keys - queries), -math.inf)
        weights = scores.softmax(1)
        # Weights are rounded to bf16, and so is the result.
        wanted, terms = weights @ v[b, h].double(), weights @ v[b, h].double().abs()
        verify(row, "by hand", o[b, h, rows], wanted, wanted.abs() * 2**-8 + terms * 2**-8)
    return {"by hand": by_hand, "cuDNN": cudnn}, 4 * batch * heads * queries * keys * WIDTH // (2 if causal else 1)


def main(folder):
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    print(f"{'':34} {'by hand':>8}   share of")
    results = []
    for row in options.rows:
        calls, flops = (matmul_row if row.startswith("relu_matmul") else attention_row)(row, folder, processors)
        times = measure(calls, options.runs, flops)
        rates = {name: flops / time / 1e9 for name, time in times.items()}
        shares = {name: rates["by hand"] / rate for name, rate in rates.items() if name != "by hand"}
        print(f"{row:34} {rates['by hand']:8.0f}   " +
              ", ".join(f"{name} ({rates[name]:.0f}) {share:.2f}" for name, share in shares.items()), flush=True)
        results.append({"row": row, "tflops": rates, "shares": shares})
    if options.json:
        options.json.write_text(json.dumps({"card": torch.cuda.get_device_name(), "torch": torch.__version__,
                                            "rows": results}, indent=1) + "\n")


if options.prepared:
    main(options.prepared)
else:
    with tempfile.TemporaryDirectory() as work:
        prepare(options.tilec, options.rows, pathlib.Path(work))
        main(pathlib.Path(work))
