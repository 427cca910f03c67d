#!/usr/bin/env python3
"""Products of matrices by tilec beside cuBLAS, cuBLASLt (both by torch) and Triton, in one run.

    matmul.py TILEC [MxNxK…] [--runs N] [--types T,…] [--orders nn,nt] [--try SCHEDULE]… [--all] [--profile]
    matmul.py TILEC --prepare FOLDER …     makes the code alone; needs no GPU
    matmul.py --prepared FOLDER …          measures it; needs no tilec

The kernels are those of products.tile; `tilec compile --emit=ptx` makes their code for each shape, and the first
lines of that say what a launch needs. Results are compared with torch's in double precision; then all take turns in a
random order, N rounds, each a CUDA graph of as many launches as take a while. The table has TFLOP/s by the median, and
tilec's share of the best peer. Data is random and normal. Triton's kernel is a persistent one over tensor
descriptors, with the best of its configurations. --try "i = 128; j = 256" measures this schedule, too, beside what the
compiler chooses; --all tries all tile sizes that are usual. With --profile each is launched once between the profiler's
start and stop. Orders bias_relu, bias_gelu and residual are layers in bf16, graphs of which the fuser has made one kernel;
their peers are cuBLASLt's epilogues by torch (the column Lt), and addmm with a function or a sum behind it (cuBLAS'
column). Types are bf16, f16, and in the order nt i8, f8 (e4m3) and tf32; of these three cuBLASLt alone is the
peer; of f8 both ways in which it adds. Needs torch, Triton, and a device of compute capability 9.0.
"""

import argparse
import itertools
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("products.tile")
SHAPES = ("8192x8192x8192", "4096x4096x4096", "16384x4096x4096", "2048x2048x2048", "1024x1024x1024", "64x8192x8192",
          "16x16384x4096")
OTHERS = ("i8", "f8", "tf32")
LAYERS = ("bias_relu", "bias_gelu", "residual")
DEPTHS = {"i8": 128, "f8": 128, "tf32": 32}  # of rows of 128 bytes; 64 of halves


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilec", nargs="?")
    parser.add_argument("shapes", nargs="*", metavar="MxNxK")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--types", default="bf16")
    parser.add_argument("--orders", default="nn,nt")
    parser.add_argument("--try", dest="schedules", action="append", default=[], metavar="SCHEDULE")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--prepared", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.prepared and options.tilec:
        options.shapes.insert(0, options.tilec)
    options.shapes = options.shapes or list(SHAPES)
    options.cases = [(order, dtype, *map(int, shape.split("x"))) for shape in options.shapes
                     for dtype in options.types.split(",") for order in options.orders.split(",")
                     if order == "nt" or dtype not in OTHERS and (order not in LAYERS or dtype == "bf16")]
    return options


def kernel_of(case):
    """Its name in the source, and what binds its type."""
    order, dtype, *_ = case
    if order in LAYERS:
        return order, []
    return (f"{order}_{dtype}", []) if dtype in OTHERS else (order, ["--bind", f"T={dtype}"])


def schedules_of(case):
    """Those that are tried beside what the compiler chooses."""
    usual = [f"i = {i}; j = {j}; k = {DEPTHS.get(case[1], 64)}" for i in (64, 128, 256) for j in (64, 128, 256)]
    return options.schedules + (usual if options.all else [])


def name_of(case):
    return "-".join(map(str, case))


def with_schedule(name, schedule):
    """The kernels' text, one of them with a schedule."""
    text = SOURCE.read_text()
    end = text.index("\n}\n", re.search(rf"^kernel {name}\b", text, re.M).start()) + 2
    return text[:end] + f" schedule {{ {schedule} }}" + text[end:]


def prepare(tilec, case, schedules, folder):
    """Makes the code of a case: NAME.ptx, and NAME-1.ptx, … of other schedules."""
    _, _, *dims = case
    order, bound = kernel_of(case)
    for number, choice in enumerate(["", *schedules]):
        source = SOURCE
        if choice:
            source = folder / "scheduled.tile"
            source.write_text(with_schedule(order, choice))
        line = [tilec, "compile", f"{source}:{order}", "--emit=ptx", "--target=sm_90a", *bound]
        for name, value in zip("MNK", dims):
            line += ["--dim", f"{name}={value}"]
        path = folder / (name_of(case) + (f"-{number}.ptx" if number else ".ptx"))
        made = subprocess.run([*line, "-o", path], capture_output=True, text=True)
        if made.returncode:
            path.unlink(missing_ok=True)
            print(f"{name_of(case)} {choice}: {made.stderr.splitlines()[0]}", file=sys.stderr)
        elif choice:
            path.write_text(path.read_text() + f"// schedule: {choice}\n")


if __name__ == "__main__":
    options = parse_options()  # --help needs nothing of what follows
    if options.prepare:
        options.prepare.mkdir(parents=True, exist_ok=True)
        for case in options.cases:
            prepare(options.tilec, case, schedules_of(case), options.prepare)
        sys.exit()

import torch
import triton
import triton.language as tl

from ptx_kernels import Kernel, measure

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8, "f8": torch.float8_e4m3fn,
         "tf32": torch.float32}
RESULTS = {"i8": torch.int32, "f8": torch.bfloat16}

CONFIGS = [triton.Config({"BM": m, "BN": n, "BK": 64, "GROUP": 8, "ROLES": roles}, num_stages=stages, num_warps=warps)
           for m, n, stages, warps in ((128, 256, 3, 8), (128, 256, 4, 8), (128, 128, 4, 8), (64, 128, 5, 4),
                                       (64, 64, 7, 4)) for roles in (False, True)]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K", "ACROSS"])
@triton.jit
def triton_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                  ROLES: tl.constexpr, BLOCKS: tl.constexpr, ACROSS: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    if ACROSS:
        b_tiles = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    else:
        b_tiles = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    c_tiles = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, BLOCKS, flatten=True, warp_specialize=ROLES):
        first = tile // (GROUP * columns) * GROUP
        height = min(rows - first, GROUP)
        place = tile % (GROUP * columns)
        i, j = first + place % height, place // height
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            if ACROSS:
                acc = tl.dot(a_tiles.load([i * BM, k * BK]), b_tiles.load([j * BN, k * BK]).T, acc)
            else:
                acc = tl.dot(a_tiles.load([i * BM, k * BK]), b_tiles.load([k * BK, j * BN]), acc)
        c_tiles.store([i * BM, j * BN], acc.to(c.dtype.element_ty))


def profile(calls):
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def blas(library, a, b, out):
    def call():
        torch.backends.cuda.preferred_blas_library(library)
        torch.matmul(a, b, out=out)
    return call


def other_peer(dtype, a, b, out, fast=False):
    """cuBLASLt for the types that torch.matmul doesn't take, or takes exactly."""
    one = torch.ones((), device="cuda")

    def call():
        if dtype == "i8":
            torch._int_mm(a, b, out=out)
        elif dtype == "f8":
            torch._scaled_mm(a, b, one, one, out_dtype=out.dtype, use_fast_accum=fast, out=out)
        else:
            torch.backends.cuda.preferred_blas_library("cublaslt")
            torch.matmul(a, b, out=out)
    return call


def layer_peers(order, a, b, more, outputs):
    """cuBLASLt with its epilogue, and addmm with what is behind it."""
    gelu = order == "bias_gelu"
    if order == "residual":
        return {"Lt": lambda: torch.addmm(more, a, b, out=outputs[0]),
                "cuBLAS": lambda: torch.add(torch.mm(a, b, out=outputs[1]), more, out=outputs[2])}
    function = (lambda x: torch.nn.functional.gelu(x, approximate="tanh")) if gelu else torch.relu
    return {"Lt": lambda: torch._addmm_activation(more, a, b, use_gelu=gelu, out=outputs[0]),
            "cuBLAS": lambda: function(torch.addmm(more, a, b, out=outputs[1]))}


def verify_layer(name, case, a, b, more, output):
    order, _, m, *_ = case
    rows = torch.tensor(sorted(set(random.sample(range(m), min(m, 300))) | {0, m - 1}), device="cuda")
    a, b = a[rows].double(), b.double()
    product = a @ b
    wanted = product + (more[rows] if order == "residual" else more).double()
    # The product is rounded, and so is the sum before a function, whose slope is at most 1.13.
    bound = (product.abs() + 2 * wanted.abs()) * 2**-7 + a.abs() @ b.abs() * 2**-20
    if order == "bias_relu":
        wanted = wanted.relu()
    elif order == "bias_gelu":
        wanted = torch.nn.functional.gelu(wanted, approximate="tanh")
    if not ((output[rows].double() - wanted).abs() <= bound).all():
        raise SystemExit(f"{name_of(case)}: {name} has wrong results")


def verify(name, case, a, b, output):
    m = case[2]
    ulp = {"bf16": 2**-8, "f8": 2**-8, "f16": 2**-11, "i8": 0, "tf32": 0}[case[1]]
    # Of the products' magnitudes: tf32 rounds factors, and tensor cores add up those of f8 with some 13 bits.
    summed = {"i8": 0, "tf32": 2**-10, "f8": 2**-11}.get(case[1], 2**-20)
    rows = torch.tensor(sorted(set(random.sample(range(m), min(m, 300))) | {0, m - 1}), device="cuda")
    a, b = a.float()[rows].double(), b.float().double()
    wanted = a @ b
    bound = wanted.abs() * ulp + a.abs() @ b.abs() * summed
    if not ((output[rows].double() - wanted).abs() <= bound).all():
        raise SystemExit(f"{name_of(case)}: {name} has wrong results")


def main():
    properties = torch.cuda.get_device_properties(0)  # makes the context
    torch.zeros(1, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = True  # concerns f32 alone
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    blocks = properties.multi_processor_count
    with tempfile.TemporaryDirectory() as place:
        folder = options.prepared or pathlib.Path(place)
        print(f"{properties.name}, torch {torch.__version__}, Triton {triton.__version__}; TFLOP/s")
        print(f"{'':>28} {'tilec':>7} {'Triton':>7} {'cuBLAS':>7} {'Lt':>7}   of the best; of f8 cuBLAS' column is Lt fast")
        for case in options.cases:
            if not options.prepared:
                prepare(options.tilec, case, schedules_of(case), folder)
            order, dtype, m, n, k = case
            a, b = ((torch.randn(*shape, device="cuda") * (40 if dtype == "i8" else 1)).to(TYPES[dtype])
                    for shape in ((m, k), (n, k) if order == "nt" else (k, n)))
            right = b.T if order == "nt" else b
            kind = RESULTS.get(dtype, a.dtype)
            new = lambda: torch.full((m, n), -1 if dtype == "i8" else float("nan"), device="cuda", dtype=kind)
            more = torch.randn(*((m, n) if order == "residual" else (n,)), device="cuda").to(kind)
            operands = {"a": a, "b": b}  # the product's; a name that is taken gets a number
            calls = {}
            for number, path in enumerate([folder / f"{name_of(case)}.ptx",
                                           *sorted(folder.glob(f"{name_of(case)}-*.ptx"))]):
                kernel, output = Kernel(path), new()
                name = kernel.schedule if number else f"tilec {kernel}"
                tensors = kernel.arrange(operands, more, output) or [a, b, output]
                calls[name] = kernel.prepare(tensors, [m, n, k], blocks)
                calls[name]()
                if order in LAYERS:
                    verify_layer(name, case, a, b, more, output)
                else:
                    verify(name, case, a, right, output)
            outputs = [new() for _ in range(3)]
            ours = len(calls)
            if order in LAYERS:
                calls |= layer_peers(order, a, b, more, outputs)
            elif dtype == "i8" and m <= 16:
                pass  # torch has none with so few rows
            elif dtype in OTHERS:
                calls["Lt"] = other_peer(dtype, a, right, outputs[2])
                if dtype == "f8":
                    calls["Lt fast"] = other_peer(dtype, a, right, outputs[1], fast=True)
            else:
                calls["Triton"] = lambda: triton_matmul[(blocks,)](a, b, outputs[0], m, n, k, BLOCKS=blocks,
                                                                   ACROSS=order == "nt")
                calls["cuBLAS"] = blas("cublas", a, right, outputs[1])
                calls["Lt"] = blas("cublaslt", a, right, outputs[2])
            flops = 2 * m * n * k
            if options.profile:
                profile(calls)
                continue
            rates = {name: flops / time / 1e9 for name, time in measure(calls, options.runs, flops).items()}
            first, *others = list(calls)[:ours]
            shown = ("Triton", "Lt fast" if dtype == "f8" else "cuBLAS", "Lt")
            peers = [rates.get(name, math.nan) for name in shown]
            print(f"{name_of(case):>28} {rates[first]:7.0f} " + " ".join(f"{rate:7.0f}" for rate in peers)
                  + f"   {rates[first] / max((rates[name] for name in list(calls)[ours:]), default=math.nan):.3f}  {first}"
                  + (f", {rates[first] / max(rates[name] for name in others):.3f} of the best schedule" if others else "")
                  + "".join(f"; {name} {rates[name]:.0f}" for name in sorted(others, key=rates.get, reverse=True)),
                  flush=True)


if __name__ == "__main__":
    main()
