#!/usr/bin/env python3
"""What `--fuse=fast` computes, against double precision.

    check_fast.py TILEC [GRAPH…] [--device cpu|cuda] [--seed N]

Each graph of fast.tile runs on random numbers and odd sizes, on the device and in the interpreter, with --check. What is fast has to be as near to
the result in double precision as one rounding to the type of the output and arithmetic of f32 allow, and nearer than what is exact, which rounds
between the calls, too. Graphs without anything to round, or to multiply and add, keep all their bits. What an artifact computes is what a run does.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
import tilec_runs  # noqa: E402
from run_samples import read_safetensors  # noqa: E402

SOURCE = FOLDER / "fast.tile"
# Half a unit in the last place, by type; and what arithmetic of f32 may add, by the largest element.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
ARITHMETIC = 1e-5


def silu(x):
    return x / (1 + np.exp(-x))


def normed(x, a, b):
    s = x + a
    n = s / np.sqrt(np.mean(s * s, axis=1, keepdims=True) + 1e-5) * b
    return {"y": silu(n)}


def layer(x, a, b):
    return {"y": silu(x @ a + b)}


def moved(x, a, b):
    before = np.vstack([np.zeros((1, x.shape[1])), (x * a)[:-1]])
    return {"y": 3 * (np.tril(before).T + b)}


MN, N = "M N", "N"
# What the inputs' shapes are, and what the graph computes.
HALVES = {
    "chain": ({"x": MN, "a": N, "b": N}, lambda x, a, b: {"y": np.tanh(x * a + b) * x}),
    "normed": ({"x": MN, "a": MN, "b": N}, normed),
    "layer": ({"x": "M K", "a": "K N", "b": N}, layer),
    "widened": ({"x": MN, "a": N, "b": N}, lambda x, a, b: {"y": 3 * (x * a + b)}),
    "moved": ({"x": MN, "a": N, "b": "M"}, moved),
    "kept": ({"x": MN, "a": N, "b": N}, lambda x, a, b: {"t": x * a, "y": silu(x * a + b)}),
}
UNCHANGED = {"integers": {"x": (MN, "i32")}, "singles": {"x": (MN, "f32"), "a": (N, "f32")}}


def spec(shape, type, dims, seed):
    extents = "x".join(str(dims[dim]) for dim in shape.split())
    return f"{'arange' if type == 'i32' else 'randn'}:{extents}:{type}" + ("" if type == "i32" else f":{seed}")


class Checker:
    def __init__(self, runs, folder, device):
        self.runs, self.folder, self.device = runs, pathlib.Path(folder), device

    def tilec(self, *words):
        made = self.runs.run(words, timeout=300)
        if made.returncode:
            raise RuntimeError(f"tilec {' '.join(map(str, words))}: {made.stderr or made.stdout}")
        return made.stdout

    def run(self, source, inputs, outputs, *flags):
        """The outputs, and their checksums."""
        file = self.folder / "outputs.safetensors"
        report = json.loads(self.tilec("run", source, "--json", *flags, *(f"--in={name}={spec}" for name, spec in inputs.items()),
                                       *(f"--out={name}={file}" for name in outputs)))
        return (read_safetensors(file) if outputs else {}), [output["checksum"] for output in report["outputs"]]

    def judge(self, graph, type, inputs, device):
        numbers = self.folder / "inputs.safetensors"
        self.tilec("run", f"{SOURCE}:{graph}", f"--device={device}", f"--save-inputs={numbers}", *(f"--in={n}={s}" for n, s in inputs.items()))
        wide = HALVES[graph][1](**{name: tensor.astype(np.float64) for name, tensor in read_safetensors(numbers).items()})
        found = {mode: self.run(f"{SOURCE}:{graph}", inputs, wide, f"--device={device}", f"--fuse={mode}", "--check")
                 for mode in ("exact", "fast")}
        problems, where = [], f"{type} on {device}"
        if self.run(f"{SOURCE}:{graph}", inputs, [], f"--device={device}", "--fuse=fast")[1] != found["fast"][1]:
            problems.append(f"{where}: two runs differ")
        for name, true in wide.items():
            errors = {mode: np.abs(tensors[name].astype(np.float64) - true) for mode, (tensors, _) in found.items()}
            rounding = ROUNDING["f32" if graph == "widened" else type]
            worst = np.max(errors["fast"] - rounding * np.abs(true)) / max(1, np.max(np.abs(true)))
            if not worst <= ARITHMETIC:
                problems.append(f"{where}: `{name}` is off by {worst:.1e} besides its rounding")
            rms = {mode: float(np.sqrt(np.mean(error**2))) for mode, error in errors.items()}
            isStored = name == "t"  # rounded once in any case
            if not (rms["fast"] == rms["exact"] if isStored else rms["fast"] < rms["exact"]):
                problems.append(f"{where}: `{name}` has errors of {rms['fast']:.1e}, exact ones of {rms['exact']:.1e}")
        return problems

    def check(self, graph, dims, seed):
        if graph in UNCHANGED:
            inputs = {name: spec(*what, dims, seed + n) for n, (name, what) in enumerate(UNCHANGED[graph].items())}
            sums = {mode: self.run(f"{SOURCE}:{graph}", inputs, [], f"--device={self.device}", f"--fuse={mode}")[1]
                    for mode in ("exact", "fast")}
            return [] if sums["exact"] == sums["fast"] else ["bits change"]
        problems = []
        for type in ("bf16", "f16"):
            inputs = {name: spec(shape, type, dims, seed + n) for n, (name, shape) in enumerate(HALVES[graph][0].items())}
            for device in (self.device, "interp"):
                problems += self.judge(graph, type, inputs, device)
        return problems

    def checkArtifact(self, dims, seed):
        inputs = {name: spec(shape, "bf16", dims, seed) for name, shape in HALVES["chain"][0].items()}
        artifact = self.folder / "chain.tileart"
        self.tilec("compile", f"{SOURCE}:chain", "--emit=artifact", "--fuse=fast", "--bind=T=bf16", "-o", artifact)
        sums = [self.run(source, inputs, [], *flags)[1] for source, flags in ((artifact, []), (f"{SOURCE}:chain", ["--fuse=fast"]))]
        return [] if sums[0] == sums[1] else ["the artifact computes something else"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    graphs, failed = options.graphs or [*HALVES, *UNCHANGED], 0
    numbers = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(tilec_runs.Processes(options.tilec), folder, options.device)

        def tell(graph, check, *arguments):
            dims = {dim: numbers.randrange(31, 130, 2) for dim in "MNK"}
            try:
                problems = check(*arguments, dims, numbers.randrange(1000))
            except RuntimeError as error:
                problems = [str(error)]
            for problem in problems:
                print(f"{graph} with {dims}, seed {options.seed}: {problem}", flush=True)
            return bool(problems)

        for graph in graphs:
            failed += tell(graph, checker.check, graph)
        if not options.graphs and options.device == "cpu":
            failed += tell("artifact", checker.checkArtifact)
    print(f"{len(graphs)} graphs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
