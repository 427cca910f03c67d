#!/usr/bin/env python3
"""Products whose left operand is computed (computed.tile) beside the plain product, and what torch makes of them, in one run.

    computed.py TILEC [--row NAME]… [--size N] [--runs N] [--json FILE]

A row is a kernel of computed.tile in bf16, N×N×N (4096). `plain` is the product of what a itself is (products.tile), `eager`
torch's calls one after the other, `compiled` torch.compile of the same, with max-autotune. Results are compared with double
precision; then all take turns in a random order, N rounds, each a CUDA graph of as many launches as take a while. Data is
random and normal. The table has TFLOP/s by the median, and the shares of the peers. Needs torch and a device of compute
capability 9.0.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ("relu", "silu", "scaled", "added", "turned")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilec")
    parser.add_argument("--row", action="append", dest="rows", metavar="NAME", choices=ROWS)
    parser.add_argument("--size", type=int, default=4096, metavar="N")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


options = parse_options()  # --help needs nothing of what follows

import torch

from ptx_kernels import Kernel, measure


def compiled(folder, source, *more):
    output = folder / f"{source.split(':')[1]}.ptx"
    made = subprocess.run([options.tilec, "compile", f"{ROOT / 'tests/bench' / source}", "--emit=ptx", "--target=sm_90a", "-o", output,
                           *(f"--dim={dim}={options.size}" for dim in "MNK"), *more], capture_output=True, text=True)
    if made.returncode:
        raise SystemExit(made.stderr)
    return Kernel(output)


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def operand(row, inputs):
    """The left operand, by the types of its inputs."""
    x = inputs[0]
    if row == "relu":
        return x.relu()
    if row == "silu":
        return torch.nn.functional.silu(x)
    if row == "scaled":
        return (x * inputs[1][:, None] * inputs[2]).to(x.dtype)
    return x + inputs[1] if row == "added" else x.T.relu()


def measure_row(row, folder, processors):
    size, b = options.size, normal(options.size, options.size)
    inputs = [normal(size, size)]
    if row == "scaled":
        inputs += [normal(size, dtype=torch.float32), normal(size, dtype=torch.float32)]
    elif row == "added":
        inputs.append(normal(size, size))
    outputs = {name: torch.full((size, size), math.nan, device="cuda", dtype=torch.bfloat16) for name in ("tilec", "plain")}
    dims = (size, size, size)

    def call(*given):
        return operand(row, given[:-1]) @ given[-1]

    fused = torch.compile(call, mode="max-autotune-no-cudagraphs")
    plain = compiled(folder, "products.tile:nn", "--bind", "T=bf16")
    calls = {"tilec": compiled(folder, f"computed.tile:{row}").prepare([*inputs, b, outputs["tilec"]], dims, processors),
             "plain": plain.prepare([inputs[0], b, outputs["plain"]], dims, processors),
             "eager": lambda: call(*inputs, b),
             "compiled": lambda: fused(*inputs, b)}
    rows = torch.tensor(sorted(set(random.sample(range(size), 300)) | {0, size - 1}), device="cuda")
    calls["tilec"]()
    exact = operand(row, [part.double() for part in inputs])[rows]
    wanted, terms = exact @ b.double(), exact.abs() @ b.double().abs()
    # The operand is rounded to bf16, and so is the result.
    if not ((outputs["tilec"][rows].double() - wanted).abs() <= wanted.abs() * 2**-8 + terms * 2**-8).all():
        raise SystemExit(f"{row}: wrong results")
    return measure(calls, options.runs, 2 * size**3)


def main(folder):
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    results = []
    for row in options.rows or ROWS:
        rates = {name: 2 * options.size**3 / time / 1e9 for name, time in measure_row(row, folder, processors).items()}
        print(f"{row:8} {options.size}: {rates['tilec']:5.0f}   of " + ", ".join(
            f"{name} ({rate:.0f}) {rates['tilec'] / rate:.2f}" for name, rate in rates.items() if name != "tilec"), flush=True)
        results.append({"row": row, "size": options.size, "tflops": rates})
    if options.json:
        options.json.write_text(json.dumps({"card": torch.cuda.get_device_name(), "rows": results}, indent=1) + "\n")


with tempfile.TemporaryDirectory() as place:
    main(pathlib.Path(place))
