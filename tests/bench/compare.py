#!/usr/bin/env python3
"""tilec on an NVIDIA GPU beside torch, eager and compiled, and Triton, in one run.

    compare.py TILEC [CASE…] [--runs N] [--tune] [--without PEER]
    ncu --profile-from-start off --clock-control none … python3 compare.py TILEC CASE… --profile
    compare.py TILEC --prepare FOLDER [CASE…] [--tune]    makes the code alone; needs no GPU
    compare.py --prepared FOLDER [CASE…] …                measures it; needs no tilec

For each case of gpu_kernels.tile: the code is made by `tilec compile --emit=ptx`, for the case's shape, and loaded by
the driver; the results are compared with torch's in double precision; then all of them take turns, N rounds in a random
order, with the L2 cache flushed before each launch. The table has the median of the bytes that the case has to move by
the time of each, in GB/s, beside those of a copy of the same size, and tilec's share of the best peer and of the copy.
The first column is what the compiler chooses by itself; with --tune a second one is the best of some schedules. The
peers' kernels in Triton (gpu_peers.py) are tuned in any case. Data is random and normal. With --profile each is
launched once between the profiler's start and stop. Needs torch, Triton and CuPy.
"""

import argparse
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

KERNELS = pathlib.Path(__file__).with_name("gpu_kernels.tile")
ROWS = {"scaled_rows": 2, "layer_norm": 2, "rms_norm": 1, "residual_norm": 2}  # inputs of N elements
FULL = {"chain": 2, "scaled": 3, "residual_norm": 2}  # inputs of M × N elements, where there is more than one
REDUCED = {"column_sums": 1, "layer_norm_backward": 2}  # outputs of N elements that programs combine
SUMS = ("row_sums", "column_sums", "cross_entropy", "layer_norm_backward")
CASES = [("chain", "f32", n, n) for n in (1024, 4096, 8192, 16384)]
CASES += [(k, "f32", 8192, 8192) for k in ("scaled", "scaled_rows", "sine_cosine")]
CASES += [(k, "bf16", 8192, 8192) for k in ("chain", "scaled", "scaled_rows", "sine_cosine")]
CASES += [("softmax", "f32", m, n) for m, n in ((8192, 4096), (4096, 32768), (512, 262144), (64, 1000000))]
CASES += [("softmax", "bf16", 8192, 8192)]
CASES += [(k, t, m, n) for k in ("layer_norm", "rms_norm") for t in ("f32", "bf16")
          for m, n in ((8192, 4096), (16384, 8192), (4096, 65536))]
CASES += [("residual_norm", t, m, n) for t, m, n in (("f32", 8192, 4096), ("bf16", 16384, 8192))]
CASES += [("cross_entropy", "f32", m, n) for m, n in ((8192, 32768), (4096, 128256))]
CASES += [(k, "f32", 8192, 8192) for k in ("row_sums", "column_sums", "transpose")]
CASES += [("layer_norm_backward", "f32", 8192, 4096)]


#--- Code ---------------------------------------------------------------------

def schedules(name, n):
    """What --tune tries."""
    if name in ("softmax", "layer_norm", "rms_norm", "residual_norm", "cross_entropy", "row_sums"):
        yield from (f"i = 1; warps = {w}; cluster = {c}" for w in (4, 8, 16, 32) for c in (1, 2, 4, 8, 16)
                    if 8 <= n / (32 * w * c) <= 64 or (n > 500000 and w * c >= 64))
    elif name == "layer_norm_backward":
        yield from (f"i = {i}; warps = {w}" for i in (1, 2, 4, 8) for w in (4, 8, 16))
    elif name == "column_sums":
        yield from (f"i = {i}; j = {j}; warps = {w}" for i in (128, 512) for j in (64, 128) for w in (4, 8))
    elif name == "transpose":
        yield from (f"i = {i}; j = {j}; warps = {w}" for i in (32, 64) for j in (32, 64, 128) for w in (4, 8))
    else:
        yield from (f"i = {i}; j = {j}; warps = {w}" for i, j in ((1, 1024), (1, 2048), (2, 1024), (4, 512), (4, 1024))
                    for w in (2, 4, 8) if i * j <= 512 * w * 2)


def with_schedule(name, schedule):
    """The kernels' text, one of them with a schedule."""
    text = KERNELS.read_text()
    start = re.search(rf"^kernel {name}\b", text, re.M).start()
    end = text.index("\n}\n", start) + 2
    return text[:end] + f" schedule {{ {schedule} }}" + text[end:]


def prepare(tilec, case, folder, tunes):
    """Makes the code of a case: NAME.ptx, and NAME-1.ptx, … of other schedules."""
    name, dtype, m, n = case
    for number, schedule in enumerate([None, *(schedules(name, n) if tunes else ())]):
        path = folder / ("-".join(map(str, case)) + (f"-{number}.ptx" if number else ".ptx"))
        source = KERNELS
        if schedule:
            source = folder / "scheduled.tile"
            source.write_text(with_schedule(name, schedule))
        made = subprocess.run([tilec, "compile", f"{source}:{name}", "--emit=ptx", "--target=sm_90a", "--dim", f"M={m}",
                               "--dim", f"N={n}", "-o", path] +
                              (["--bind", f"T={dtype}"] if name != "layer_norm_backward" else []),
                              capture_output=True, text=True)
        if made.returncode:
            path.unlink(missing_ok=True)
            print(f"{' '.join(map(str, case))}, {schedule or 'default'}: {made.stderr.splitlines()[0]}", file=sys.stderr)
        elif schedule:
            path.write_text(path.read_text() + f"// schedule: {schedule}\n")


class Kernel:
    """A kernel's code for one shape."""

    def __init__(self, path, name, m, n):
        from cupy_backends.cuda.api import driver
        import cupy
        text = path.read_text()
        head = re.search(r"// \w+: (\d+) threads, (\d+) bytes of shared memory(?:, (\d+) blocks a program)?(?:; (.*))?",
                         text)
        threads, shared, blocks = (int(number or 1) for number in head.groups()[:3])
        sizes = dict((binder, int(size)) for binder, size in re.findall(r"(\w+) = (\d+)", head[4] or ""))
        programs = math.prod(-(-extent // sizes[binder]) for binder, extent in (("i", m), ("j", n)) if binder in sizes)
        self.schedule = (re.search(r"^// schedule: (.*)", text, re.M) or ["", "default"])[1]
        self.module = cupy.RawModule(path=str(path))
        self.launches, extra = [], []
        for entry in re.findall(r"\.entry (\w+)", text):
            function = self.module.get_function(entry)
            if not entry.endswith("_finish"):
                if shared:
                    function.max_dynamic_shared_size_bytes = shared
                if blocks > 8:
                    driver.funcSetAttribute(function.kernel.ptr, 14, 1)  # clusters of more than 8 blocks
                self.launches.insert(0, (function, programs * blocks, threads, shared))
                continue
            # Copies of the outputs, as runtime/artifact/CudaCode.h and LoadedKernel.cpp have them.
            bytes_of_copy = REDUCED[name] * -(-n // 16) * 16 * 4
            copies = max(1, min(256, programs, (1 << 28) // bytes_of_copy))
            self.workspace = cupy.empty(bytes_of_copy * copies, cupy.uint8)
            extra = [cupy.int64(self.workspace.data.ptr), cupy.int64(copies), cupy.int64(programs), cupy.int64(0)]
            self.launches.append((function, n // 32 + 1, 1024, 32 * 33 * 8))  # GpuCode::…OfFinish
        if extra:  # blocks share out the programs
            function, _, threads, shared = self.launches[0]
            self.launches[0] = function, int(extra[1]), threads, shared
        self.words = [cupy.int64(m), cupy.int64(n), *extra]

    def __call__(self, tensors):
        import cupy
        pointers = [cupy.int64(tensor.data_ptr()) for tensor in tensors]
        for function, grid, threads, shared in self.launches:
            function((grid,), (threads,), (*pointers, *self.words), shared_mem=shared)


#--- What torch makes of it -----------------------------------------------------

def references():
    import torch
    import torch.nn.functional as F

    def residual(x, r, g, b):
        s = x + r
        return s, F.layer_norm(s, s.shape[1:], g, b)

    def backward(x, dy, g, mu, rs):
        h = (x - mu[:, None]) * rs[:, None]
        w = dy * g
        dx = (w - w.mean(1, keepdim=True) - h * (w * h).mean(1, keepdim=True)) * rs[:, None]
        return dx, (dy * h).sum(0), dy.sum(0)

    return {
        "chain": lambda x, y: torch.sigmoid(torch.relu((x + y) * 2) - 1),
        "scaled": lambda x, w, b: torch.sigmoid(x * w + b),
        "scaled_rows": lambda x, w, b: torch.sigmoid(x * w + b),
        "sine_cosine": lambda x: (torch.sin(x), torch.cos(x)),
        "softmax": lambda x: torch.softmax(x, 1),
        "layer_norm": lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b),
        "rms_norm": lambda x, g: F.rms_norm(x, x.shape[1:], g, 1e-5),
        "residual_norm": residual,
        "cross_entropy": lambda x, target: F.cross_entropy(x, target, reduction="none"),
        "row_sums": lambda x: x.sum(1),
        "column_sums": lambda x: x.sum(0),
        "transpose": lambda x: x.T.contiguous(),
        "layer_norm_backward": backward,
    }


def inputs_of(name, dtype, m, n):
    import torch
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype={"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
    if name == "cross_entropy":
        return [make(m, n), torch.randint(n, (m,), device="cuda")]
    if name == "layer_norm_backward":
        x = make(m, n)
        return [x, make(m, n), make(n), x.mean(1), torch.rsqrt(x.var(1, unbiased=False) + 1e-5)]
    return [make(m, n) for _ in range(FULL.get(name, 1))] + [make(n) for _ in range(ROWS.get(name, 0))]


#--- Measuring --------------------------------------------------------------------

def milliseconds(calls, runs):
    """The median time of each on the device, taking turns: it is kept busy until all launches are there."""
    import torch
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = [[] for _ in calls]
    for call in calls:
        for _ in range(3):
            call()
    for _ in range(runs):
        turns = list(zip(calls, times))
        random.shuffle(turns)
        for call, own in turns:
            flush.zero_()
            torch.cuda._sleep(500000)  # cycles
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            own.append(start.elapsed_time(end))
    return [statistics.median(own) for own in times]


def check(kernel, name, dtype, inputs, exact):
    import torch
    outputs = [torch.full(result.shape, 0. if "column" in name or "backward" in name else float("nan"),
                          dtype=torch.float32 if name in SUMS else inputs[0].dtype, device="cuda") for result in exact]
    kernel(inputs + outputs)
    for own, right in zip(outputs, exact):
        tolerance = 1e-2 if own.dtype == torch.bfloat16 else 1e-3 if own.numel() * 64 < inputs[0].numel() else 2e-5
        torch.testing.assert_close(own.double(), right, rtol=tolerance, atol=tolerance)
    return outputs


def profile(title, calls):
    """One launch of each, for a profiler that waits for cudaProfilerStart, in the order that is printed."""
    import torch
    for _ in range(3):
        for call in calls.values():
            call()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    for call in calls.values():
        call()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    print(f"{title}: {', '.join(calls)}", flush=True)


def measure(case, folder, options):
    import torch
    name, dtype, m, n = case
    stem = "-".join(map(str, case))
    paths = [folder / f"{stem}.ptx"] if (folder / f"{stem}.ptx").exists() else []
    if not paths:
        return
    if options.tune:
        paths += sorted(path for path in folder.glob(f"{stem}-*.ptx"))
    inputs, reference = inputs_of(name, dtype, m, n), references()[name]
    exact = reference(*(tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs))
    exact = exact if isinstance(exact, tuple) else (exact,)
    kernels, outputs = [], None
    for path in paths:
        try:
            kernel = Kernel(path, name, m, n)
            outputs = check(kernel, name, dtype, inputs, exact)
            kernels.append(kernel)
        except AssertionError as error:
            print(f"  {path.name}: WRONG: {str(error).splitlines()[-3:]}", flush=True)
            if not kernels and path == paths[0]:
                return
    moved = sum(tensor.numel() * tensor.element_size() for tensor in [*inputs, *outputs])
    del exact
    runs = lambda kernel: lambda: kernel(inputs + outputs)
    best = kernels[0]
    if len(kernels) > 1:
        times = milliseconds([runs(kernel) for kernel in kernels], max(5, options.runs // 3))
        if options.verbose:
            print("  " + "; ".join(f"{k.schedule}: {moved / t / 1e6:.0f}" for k, t in zip(kernels, times)))
        best = kernels[times.index(min(times))]
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    calls = {"tilec": runs(kernels[0]), "tuned": runs(best), "copy": lambda: target.copy_(source)}
    if "eager" not in options.without:
        calls["eager"] = lambda: reference(*inputs)
    if "compile" not in options.without:
        torch._dynamo.reset()
        compiled = torch.compile(reference)
        calls["compile"] = lambda: compiled(*inputs)
    if "triton" not in options.without:
        from gpu_peers import triton_peers
        calls["triton"] = triton_peers[name](*inputs)
        peer = calls["triton"]()
        for own, other in zip(outputs, peer):
            torch.testing.assert_close(own.float(), other.float(), rtol=2e-2, atol=2e-2)
    title = f"{name} {dtype} {m}x{n}"
    if options.profile:
        return profile(title, calls)
    times = milliseconds(list(calls.values()), options.runs)
    rate = dict(zip(calls, (moved / time / 1e6 for time in times)))
    peers = [rate[peer] for peer in ("eager", "compile", "triton") if peer in rate]
    print(f"{title:34}" + "".join(f"{rate.get(column, 0):8.0f}" for column in COLUMNS) +
          (f"{rate['tilec'] / max(peers):8.2f}" if peers else f"{'':8}") + f"{rate['tilec'] / rate['copy']:8.2f}" +
          (f"   {best.schedule}" if best is not kernels[0] else ""), flush=True)


COLUMNS = ("tilec", "tuned", "eager", "compile", "triton", "copy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec", nargs="?")
    parser.add_argument("cases", nargs="*", help="how their names begin; all by default")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--tune", action="store_true", help="try other schedules, too")
    parser.add_argument("--profile", action="store_true", help="launch each once, for a profiler, and time nothing")
    parser.add_argument("--verbose", action="store_true", help="show the rate of each schedule")
    parser.add_argument("--without", action="append", default=[], help="a peer: eager, compile or triton")
    parser.add_argument("--prepare", type=pathlib.Path)
    parser.add_argument("--prepared", type=pathlib.Path)
    options = parser.parse_args()
    starts = options.cases + ([options.tilec] if options.prepared and options.tilec else [])
    cases = [case for case in CASES if not starts or any(" ".join(map(str, case)).startswith(s) for s in starts)]
    if options.prepare:
        options.prepare.mkdir(parents=True, exist_ok=True)
        for case in cases:
            prepare(options.tilec, case, options.prepare, options.tune)
        return
    import cupy
    import torch
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; GB/s")
    print(f"{'':34}" + "".join(f"{column:>8}" for column in COLUMNS) + f"{'/best':>8}{'/copy':>8}")
    with tempfile.TemporaryDirectory() as place, cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        for case in cases:
            folder = options.prepared or pathlib.Path(place)
            if not options.prepared:
                prepare(options.tilec, case, folder, options.tune)
            try:
                measure(case, folder, options)
            except Exception as error:  # the other cases still count
                print(f"{' '.join(map(str, case))}: {type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
