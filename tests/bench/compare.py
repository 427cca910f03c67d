#!/usr/bin/env python3
"""tilec on an NVIDIA GPU beside torch, eager and compiled, in one run.

    compare.py TILEC [CASE…] [--runs N]

For each case of gpu_kernels.tile: the code is made by `tilec compile --emit=ptx`, for the case's shape,
and loaded by the driver; the results are compared with torch's in double precision; then all of them take
turns, N rounds with the L2 cache flushed before each launch. The table has the median of the bytes that the
case has to move by the time of each, in GB/s, beside those of a copy of the same size, and tilec's share of
the better of torch's. Data is random and normal. Needs torch and CuPy.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import cupy
import torch
import torch.nn.functional as F

KERNELS = pathlib.Path(__file__).with_name("gpu_kernels.tile")
BLOCKS = {"chain": (1, 1024), "scaled": (1, 1024), "sine_cosine": (1, 1024), "transpose": (64, 64)}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
REFERENCES = {
    "chain": lambda x, y: torch.sigmoid(torch.relu((x + y) * 2) - 1),
    "scaled": lambda x, w, b: torch.sigmoid(x * w + b),
    "sine_cosine": lambda x: (torch.sin(x), torch.cos(x)),
    "softmax": lambda x: torch.softmax(x, 1),
    "layer_norm": lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b),
    "rms_norm": lambda x, g: F.rms_norm(x, x.shape[1:], g, 1e-5),
    "row_sums": lambda x: x.sum(1),
    "transpose": lambda x: x.T.contiguous(),
}
ROWS = {"scaled": 2, "layer_norm": 2, "rms_norm": 1}  # inputs of N elements
CASES = [("chain", "f32", n, n) for n in (1024, 4096, 8192, 16384)]
CASES += [("chain", "bf16", 8192, 8192), ("scaled", "f32", 8192, 8192), ("sine_cosine", "f32", 8192, 8192)]
CASES += [("softmax", "f32", 8192, 4096), ("softmax", "f32", 4096, 32768), ("softmax", "bf16", 8192, 8192)]
CASES += [(k, t, m, n) for k in ("layer_norm", "rms_norm")
          for t, m, n in (("f32", 8192, 4096), ("bf16", 16384, 8192))]
CASES += [("row_sums", "f32", 8192, 8192), ("transpose", "f32", 8192, 8192)]


class Kernel:
    """A kernel's code for one shape."""

    def __init__(self, tilec, name, dtype, m, n, place):
        path = pathlib.Path(place) / f"{name}-{dtype}-{m}-{n}.ptx"
        subprocess.run([tilec, "compile", f"{KERNELS}:{name}", "--emit=ptx", "--target=sm_90a", "--dim", f"M={m}",
                        "--dim", f"N={n}", "-o", path] + (["--bind", f"T={dtype}"] if dtype != "f32" else []),
                       check=True)
        text = path.read_text()
        threads, shared = re.search(r"// \w+: (\d+) threads, (\d+) bytes of shared memory", text).groups()
        self.threads, self.shared = int(threads), int(shared)
        self.function = cupy.RawModule(path=str(path)).get_function(re.search(r"\.entry (\w+)", text)[1])
        if self.shared:
            self.function.max_dynamic_shared_size_bytes = self.shared
        rows, columns = BLOCKS.get(name, (1, None))
        self.grid = -(-m // rows) * (-(-n // columns) if columns else 1)
        self.dims = [cupy.int64(m), cupy.int64(n)]

    def __call__(self, tensors):
        pointers = [cupy.int64(tensor.data_ptr()) for tensor in tensors]
        self.function((self.grid,), (self.threads,), (*pointers, *self.dims), shared_mem=self.shared)


def milliseconds(calls, runs):
    """The median time of each, taking turns."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = [[] for _ in calls]
    for call in calls:
        for _ in range(3):
            call()
    for _ in range(runs):
        for call, own in zip(calls, times):
            flush.zero_()
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            own.append(start.elapsed_time(end))
    return [statistics.median(own) for own in times]


def measure(tilec, name, dtype, m, n, runs, place):
    kernel = Kernel(tilec, name, dtype, m, n, place)
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=TYPES[dtype])
    inputs = [make(m, n)] + ([make(m, n)] if name == "chain" else [])
    inputs += [make(n) for _ in range(ROWS.get(name, 0))]
    reference = REFERENCES[name]
    exact = reference(*(tensor.double() for tensor in inputs))
    exact = exact if isinstance(exact, tuple) else (exact,)
    outputs = [torch.full_like(result, float("nan"), dtype=TYPES[dtype]) for result in exact]
    kernel(inputs + outputs)
    tolerance = 1e-2 if dtype == "bf16" else 1e-4 if name == "row_sums" else 2e-5
    for own, right in zip(outputs, exact):
        torch.testing.assert_close(own.double(), right, rtol=tolerance, atol=tolerance)
    del exact
    moved = sum(tensor.numel() * tensor.element_size() for tensor in inputs + outputs)
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    torch._dynamo.reset()
    compiled = torch.compile(reference)
    times = milliseconds([lambda: kernel(inputs + outputs), lambda: reference(*inputs), lambda: compiled(*inputs),
                          lambda: target.copy_(source)], runs)
    own, eager, compiled_rate, copy = (moved / time / 1e6 for time in times)
    title = f"{name} {dtype} {m}x{n}"
    print(f"{title:32}{own:8.0f}{eager:8.0f}{compiled_rate:9.0f}{copy:8.0f}{own / max(eager, compiled_rate):8.2f}"
          f"{own / copy:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("cases", nargs="*", help="how their names begin; all by default")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; GB/s")
    print(f"{'':32}{'tilec':>8}{'eager':>8}{'compile':>9}{'copy':>8}{'/torch':>8}{'/copy':>8}")
    with tempfile.TemporaryDirectory() as place, cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        for case in CASES:
            if not options.cases or any(" ".join(map(str, case)).startswith(start) for start in options.cases):
                measure(options.tilec, *case, options.runs, place)


sys.exit(main())
