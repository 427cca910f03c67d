#!/usr/bin/env python3
"""Runs every lesson of samples/ and every folder of tests/e2e/kernels/, each on every shape of its
shapes.json, and compares it with its reference.

    run_samples.py TILEC [SAMPLE...] [--device cpu|cuda|interp|artifact|artifact-cuda|sanitize] [--jobs N]
                   [--targets LIST] [--server PROGRAM]

For each kernel and each set of inputs `tilec run` makes the inputs, runs on the device, compares the
result with the interpreter (--check) and with other tile sizes (--sweep-tiles), and saves inputs and
outputs. The outputs are then compared with reference.py, which knows nothing of tilec: NaN equals
NaN, inf equals inf, integers and a tolerance of 0 are exact. bf16 and f8, which NumPy lacks, are given to the
reference as float32, without loss. On the device `artifact` each source is compiled to an artifact first, and
the compiled code runs without the compiler, with the tile sizes of the schedule; on `artifact-cuda` on a GPU,
with code for --targets: that of an older one runs on newer ones. On the device `sanitize` each of those named, or
the first of each kernel and half of the others, runs once on the CPU with --sanitize, which has nothing to report.
On the device `cuda` kernels that the GPU backend can't do yet are refused with "does not have … yet", and tiles that
are too large for it; they are shown. Where only other tile sizes of the sweep are too large, the run itself is compared
nevertheless.

With --server (tile_command_server) few processes make all runs, which on a GPU saves most of the time.

The tolerance against the reference is that of the kernel, or the shape's own where it has one: shapes of
halves do, because there the rounding of the result comes on top, at most 2^-11 of it for f16 and 2^-8 for
bf16. Where terms are rounded to halves, too, the reference gives a pair, the result and the sum of the
magnitudes of its terms, and the tolerance is relative to that. What --check and --sweep-tiles allow follows from the kernel (docs/testing.md).
"""

import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy as np
import tilec_runs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = [ROOT / "samples", ROOT / "tests" / "e2e" / "kernels"]
NUMPY_TYPES = {"BOOL": "?", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "U8": "u1", "U16": "<u2",
               "U32": "<u4", "U64": "<u8", "F16": "<f2", "BF16": "<u2", "F8_E4M3": "u1", "F8_E5M2": "u1", "F32": "<f4",
               "F64": "<f8"}
# What is compared with the interpreter; that would be compared with itself.
CHECKED = ("cpu", "cuda")
# Choices of tile sizes for the first set of inputs of a kernel, and for each other one. Each is code of its own for
# the CPU, which is most of the time that the runs take, and random kernels have random sizes there (fuzz_kernels).
# The interpreter takes seconds for what the others take milliseconds.
SWEEPS = {"cuda": (12, 2), "cpu": (8, 1), "interp": (2, 1)}


def read_safetensors(path):
    """All tensors of a file, by name."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + at for at in entry["data_offsets"])
        flat = np.frombuffer(data[begin:end], dtype=NUMPY_TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        elif entry["dtype"] == "F8_E5M2":
            flat = (flat.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
        elif entry["dtype"] == "F8_E4M3":  # the bits of an f16 whose exponent is 8 greater, but for NaN
            bits = (flat & 0x80).astype(np.uint16) << 8 | (flat & 0x7F).astype(np.uint16) << 7
            flat = np.where(flat & 0x7F == 0x7F, np.nan, bits.view(np.float16).astype(np.float32) * 256).astype(np.float32)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def load_reference(folder):
    spec = importlib.util.spec_from_file_location(folder.name, folder / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Of the GPU: what it has no code for, and tiles that it has no room for.
MISSING = (r"the GPU backend (does not have .* yet)|needs [0-9]+ bytes of shared memory|(the artifact has no code of) `"
           r"|(the length of axis `\w+` is not known)")


class Refused(Exception):
    """The device can't do this yet."""


class Case:
    """One kernel or graph of a sample, and one set of inputs."""

    def __init__(self, source, kernel, reference, tolerances, case, is_first):
        self.source, self.kernel, self.reference = source, kernel, reference
        self.rtol, self.atol = (case.get(name, tolerances[name]) for name in ("rtol", "atol"))
        self.inputs, self.dims, self.sizes = case["in"], case.get("dim", {}), case.get("sets", [])
        self.is_first = is_first
        self.artifact = None  # its path, or why there is none
        self.refused = ""  # why some tile sizes were

    def __str__(self):
        inputs = " ".join(f"{name}={spec}" for name, spec in self.inputs.items())
        return f"{self.source.parent.name} {self.kernel}: {inputs} {' '.join(self.sizes)}".rstrip()

    def command(self, device, inputs, outputs, sweeps=True):
        line = ["run", str(self.artifact or self.source), "--entry", self.kernel, "--json",
                "--save-inputs", str(inputs)]
        if device == "sanitize":
            line += ["--sanitize"]
        elif device == "artifact-cuda":
            line += ["--device", "cuda"]
        elif not self.artifact:
            first, other = SWEEPS[device]
            count = first if self.is_first else other
            line += ["--device", device, *(["--check"] if device in CHECKED else []),
                     *([f"--sweep-tiles={count}"] if sweeps else [])]
        if not self.artifact:
            for size in self.sizes:
                line += ["--set", size]
        for name, spec in self.inputs.items():
            line += ["--in", f"{name}={spec}"]
        for name, value in self.dims.items():
            line += ["--dim", f"{name}={value}"]
        for name in self.output_names:
            line += ["--out", f"{name}={outputs}"]
        return line

    def run(self, runs, device):
        """What went wrong; empty if nothing did."""
        if isinstance(self.artifact, str):
            if device == "artifact-cuda" and (missing := re.search(MISSING, self.artifact)):
                raise Refused(next(filter(None, missing.groups())))
            return self.artifact
        with tempfile.TemporaryDirectory() as folder:
            inputs = pathlib.Path(folder) / "inputs.safetensors"
            outputs = pathlib.Path(folder) / "outputs.safetensors"
            ran = runs.run(self.command(device, inputs, outputs), self.source.parent)
            report = json.loads(ran.stdout) if ran.returncode in (0, 1) and ran.stdout else {}
            # A run that was refused has diagnostics in the place of results.
            if device in ("cuda", "artifact-cuda") and (missing := re.search(MISSING, ran.stderr)):
                what = missing[1] or missing[2] or "has too little shared memory"
                ran = runs.run(self.command(device, inputs, outputs, sweeps=False), self.source.parent)
                if re.search(MISSING, ran.stderr):
                    raise Refused(what)
                self.refused = what
                report = json.loads(ran.stdout) if ran.returncode in (0, 1) and ran.stdout else {}
            if "outputs" not in report or ("check" not in report and device in CHECKED):
                return f"exit code {ran.returncode}\n{ran.stderr or ran.stdout}"
            problems = self.judge_report(report)
            return "\n".join(problems + self.judge_outputs(read_safetensors(inputs), read_safetensors(outputs)))

    @staticmethod
    def judge_report(report):
        checks = [("the interpreter", report.get("check", []))]
        checks += [(choice["sizes"], choice["outputs"]) for choice in report.get("sweep", [])]
        return [f"against {what}: {entry['output']}: {entry['text']}"
                for what, entries in checks for entry in entries if not entry["ok"]]

    def judge_outputs(self, inputs, outputs):
        tensors = {name: value for name, value in inputs.items() if value.ndim}
        params = {name: value.item() for name, value in inputs.items() if not value.ndim}
        with np.errstate(all="ignore"):
            expected = self.reference(tensors, {**self.dims, **params})
        if set(expected) != set(outputs):
            return [f"outputs {sorted(outputs)}, the reference has {sorted(expected)}"]
        return [f"{name}: {problem}" for name in outputs
                if (problem := self.differences(outputs[name], expected[name]))]

    def differences(self, actual, expected):
        expected, magnitudes = expected if isinstance(expected, tuple) else (expected, expected)
        expected, magnitudes = np.asarray(expected), np.asarray(magnitudes)
        if actual.shape != expected.shape:
            return f"shape {actual.shape}, the reference has {expected.shape}"
        if actual.dtype.kind == "f":
            actual, expected = actual.astype(np.float64), expected.astype(np.float64)
            same = (np.abs(actual - expected) <= self.atol + self.rtol * np.abs(magnitudes))
            same |= (actual == expected) | (np.isnan(actual) & np.isnan(expected))
            same &= np.isfinite(actual) | ~np.isfinite(expected)
        else:
            same = actual == expected
        if same.all():
            return ""
        at = tuple(int(index) for index in np.argwhere(~same)[0])
        return (f"{np.count_nonzero(~same)} of {same.size} differ from the reference, "
                f"first at {at}: {actual[at]} instead of {expected[at]}")


def output_names(tilec, source, kernel):
    """From the declaration, as `tilec info` shows it: what is changed in place, and the outputs."""
    text = subprocess.run([tilec, "info", f"{source}:{kernel}"], capture_output=True, text=True, check=True).stdout
    before, head = (part.strip() for part in text.split("->", 1))
    depth, names, word = 0, re.findall(r"\binout (\w+):", before), ""
    for character in head[1:]:
        if depth == 0 and character == ":":
            names.append(word.strip())
        word = "" if character in ",:[]" else word + character
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(character, 0)
        if depth < 0:
            return names
    raise ValueError(f"no outputs in {head}")


def cases_of(tilec, folder):
    (source,) = folder.glob("*.tile")
    reference = load_reference(folder)
    cases = []
    for kernel, entry in json.loads((folder / "shapes.json").read_text()).items():
        names = output_names(tilec, source, kernel)
        for number, shape in enumerate(entry["shapes"]):
            case = Case(source, kernel, getattr(reference, kernel), entry, shape, is_first=number == 0)
            case.output_names = names
            cases.append(case)
    return cases


def some_of(cases):
    """The first launch of each kernel, and of the others the half that the seed TILE_TEST_SEED picks; and the seed."""
    seed = int(os.environ.get("TILE_TEST_SEED", random.randrange(1 << 30)))
    pick = random.Random(seed)
    return [case for case in cases if case.is_first or pick.random() < 0.5], seed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("samples", nargs="*", help="names of folders; all by default")
    parser.add_argument("--device", default="cpu",
                        choices=["cpu", "cuda", "interp", "artifact", "artifact-cuda", "sanitize"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--targets", default="sm_80,sm_90a", help="that artifact-cuda has code for")
    parser.add_argument("--server", metavar="PROGRAM", help="tile_command_server, for many runs in a process")
    options = parser.parse_args()
    folders = [path.parent for place in PLACES for path in sorted(place.glob("*/shapes.json"))
               if not options.samples or path.parent.name in options.samples]
    tilec = os.path.abspath(options.tilec)
    cases = [case for folder in folders for case in cases_of(tilec, folder)]
    if options.device == "sanitize" and not options.samples:
        cases, seed = some_of(cases)
        print(f"TILE_TEST_SEED={seed}")
    with tempfile.TemporaryDirectory() as place:
        # A cache of its own: what it finds there it has made.
        os.environ["TILE_CACHE_DIR"] = os.path.join(place, "cache")
        if options.device.startswith("artifact"):
            compile_artifacts(tilec, cases, pathlib.Path(place), options)
        runs = tilec_runs.runs_of(tilec, options.server, options.device)
        try:
            return run_cases(runs, folders, cases, options)
        finally:
            runs.close()


def compile_artifacts(tilec, cases, place, options):
    """In `place`, one artifact a source, or for GPUs one a kernel: of some kernels these have no code."""
    for_gpu = options.device == "artifact-cuda"
    target = options.targets if for_gpu else "native"

    def compile_one(what):
        number, source, kernel = what
        path = place / f"{number}.tileart"
        made = subprocess.run([tilec, "compile", f"{source}:{kernel}" if kernel else source, "--emit=artifact",
                               f"--target={target}", "-o", path], stderr=subprocess.PIPE, text=True)
        return path if made.returncode == 0 else made.stderr

    def key(case):
        return case.source, case.kernel if for_gpu else ""

    keys = sorted({key(case) for case in cases})
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = dict(zip(keys, pool.map(compile_one, [(number, *key) for number, key in enumerate(keys)])))
    for case in cases:
        case.artifact = made[key(case)]


def run_cases(runs, folders, cases, options):
    failures, refusals = 0, {}

    def run(case):
        try:
            return case.run(runs, options.device)
        except Refused as refused:
            refusals.setdefault(str(refused), set()).add(f"{case.source.parent.name}:{case.kernel}")
            return ""
        except subprocess.TimeoutExpired as timeout:
            return f"{timeout}"

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, problem in zip(cases, pool.map(run, cases)):
            if problem:
                failures += 1
                print(f"FAILED {case}\n    " + problem.replace("\n", "\n    "), flush=True)
    for missing, kernels in sorted(refusals.items()):
        print(f"{options.device} {missing}: {', '.join(sorted(kernels))}")
    for line in sorted({f"some tile sizes: {case.source.parent.name}:{case.kernel}: {options.device} {case.refused}"
                        for case in cases if case.refused}):
        print(line)
    print(f"{len(cases)} runs of {len(folders)} samples on {options.device}, {failures} failed")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
