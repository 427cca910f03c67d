#!/usr/bin/env python3
"""Whether a fused graph and its calls one by one, under one plan, give the same bits.

    check_pins.py TILEC [GRAPH…] [--device cpu|cuda]

Of each graph of figures.json and pins.json a plan is made for the sizes of its random inputs. Then it runs on the CPU: fused by a search, fused by the plan, and call by
call under the plan; and the latter two in the interpreter, there under a plan for GPUs, too. What runs on one device has to have the same bits: nothing is
near enough. With threads, too, as many as there are and one. With --device cuda the GPU runs its plan, fused and call by call.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent
TABLES = ["figures.json", "pins.json"]


def dims_of(source, graph, inputs):
    """The values of the graph's dims, by the shapes of its inputs."""
    signature = re.search(rf"graph {graph}\((.*?)\)\s*->", source.read_text(), re.DOTALL).group(1)
    dims = {}
    for name, shape in re.findall(r"(\w+): \w+\[(.*?)\]", signature):
        for dim, extent in zip(shape.split(", "), inputs[name].split(":")[1].split("x")):
            dims[dim] = extent
    return {dim: extent for dim, extent in dims.items() if not dim.isdigit()}


def run(tilec, words, threads=None):
    environment = dict(os.environ, **({"TILE_NUM_THREADS": threads} if threads else {}))
    made = subprocess.run([tilec, *map(str, words)], capture_output=True, text=True, timeout=300, env=environment)
    if made.returncode:
        raise RuntimeError(f"tilec {words[0]} {' '.join(w for w in map(str, words) if w.startswith('--'))}: "
                           f"{made.stderr or made.stdout}")
    return made.stdout


def checksums(tilec, source, graph, inputs, *flags, threads=None):
    words = ["run", source, "--entry", graph, "--json", *flags]
    for name, spec in inputs.items():
        words += ["--in", f"{name}={spec}"]
    return [output["checksum"] for output in json.loads(run(tilec, words, threads))["outputs"]]


def check(tilec, graph, case, folder, device):
    source = FOLDER / case.get("file", "figures.tile")

    def plan(target):
        path = folder / f"{graph}-{target}.json"
        run(tilec, ["fuse", f"{source}:{graph}", f"--device={target}", "--explain=plan", "-o", path,
                    *(f"--dim={dim}={extent}" for dim, extent in dims_of(source, graph, case["in"]).items())])
        return f"--pin={path}"

    def bits(*flags, threads=None):
        return checksums(tilec, source, graph, case["in"], *flags, threads=threads)

    def both(where, pin):
        return {f"{where}, {how}": bits(f"--device={where}", f"--fuse={mode}", pin)
                for mode, how in (("exact", "fused by the plan"), ("off", "call by call"))}

    groups = [both("interp", plan("h200"))]
    if device == "cuda":
        groups.append(both("cuda", plan("cuda")))
    else:
        own = plan("cpu")
        groups += [both("interp", own), both("cpu", own) | {
            "cpu, fused by a search": bits("--fuse=exact"),
            "cpu, call by call on a thread": bits("--fuse=off", own, threads="1"),
        }]
    return [f"{name}: {sums}, not {next(iter(found.values()))}" for found in groups for name, sums in found.items()
            if sums != next(iter(found.values()))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    cases = {graph: case for table in TABLES for graph, case in json.loads((FOLDER / table).read_text()).items()}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for graph in options.graphs or cases:
            try:
                problems = check(os.path.abspath(options.tilec), graph, cases[graph], pathlib.Path(folder), options.device)
            except RuntimeError as error:
                problems = [str(error)]
            failed += bool(problems)
            for problem in problems:
                print(f"{graph}: {problem}", flush=True)
    print(f"{len(options.graphs or cases)} graphs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
