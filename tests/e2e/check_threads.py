#!/usr/bin/env python3
"""Bits don't depend on the number of threads.

    check_threads.py TILEC SERVER [SAMPLE…] [--all]

Launches of samples/ and of tests/e2e/kernels/ (the first of each kernel, and of the others the half that the seed TILE_TEST_SEED
picks, or all) run on the CPU with 1, 2 and 7 threads, with tile sizes that nobody gives but the source, and
give the same bytes each time. Processes that stay (tile_command_server) and a cache that they share make each kernel's code once, as long as its
tile sizes are the same for all; they need not be. Kernels with atomic operations are left out: those come in any order.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import run_samples  # noqa: E402
import tilec_runs  # noqa: E402

THREADS = [1, 2, 7]


def has_atomics(case):
    (text,) = re.findall(rf"^kernel {case.kernel}\b.*?(?=^kernel |\Z)", case.source.read_text(), re.DOTALL | re.MULTILINE) or [""]
    return "atomic_" in text


def command(case, outputs):
    line = ["run", case.source, "--entry", case.kernel]
    for size in case.sizes:
        line += ["--set", size]
    for name, spec in case.inputs.items():
        line += ["--in", f"{name}={spec}"]
    for name, value in case.dims.items():
        line += ["--dim", f"{name}={value}"]
    for name in case.output_names:
        line += ["--out", f"{name}={outputs}"]
    return line


def problem_of(case, runs):
    """What differs; empty if nothing does."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for threads in THREADS:
            outputs = pathlib.Path(folder) / f"{threads}.safetensors"
            ran = runs[threads].run(command(case, outputs), case.source.parent)
            if ran.returncode != 0:
                return f"{threads} threads: exit code {ran.returncode}\n{ran.stderr}"
            results[threads] = outputs.read_bytes()
        others = [threads for threads in THREADS if results[threads] != results[1]]
        if not others:
            return ""
        tensors = [run_samples.read_safetensors(pathlib.Path(folder) / f"{threads}.safetensors") for threads in (1, others[0])]
        names = [name for name in tensors[0] if tensors[0][name].tobytes() != tensors[1][name].tobytes()]
        return f"{', '.join(names)}: other bits with {others} threads than with 1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("server")
    parser.add_argument("samples", nargs="*", help="names of folders; all by default")
    parser.add_argument("--all", action="store_true", help="all launches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    folders = [path.parent for place in run_samples.PLACES for path in sorted(place.glob("*/shapes.json"))
               if not options.samples or path.parent.name in options.samples]
    cases = [case for folder in folders for case in run_samples.cases_of(os.path.abspath(options.tilec), folder)
             if not has_atomics(case)]
    note = "all"
    if not options.all:
        cases, seed = run_samples.some_of(cases)
        note = f"TILE_TEST_SEED={seed}"
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "TILE_CACHE_DIR": os.path.join(place, "cache")}
        runs = {threads: tilec_runs.Servers([os.path.abspath(options.server)], {**environment, "TILE_NUM_THREADS": str(threads)})
                for threads in THREADS}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case, problem in zip(cases, pool.map(lambda case: problem_of(case, runs), cases)):
                if problem:
                    failures += 1
                    print(f"FAILED {case}\n    {problem}", flush=True)
        for servers in runs.values():
            servers.close()
    print(f"{len(cases)} launches with {', '.join(map(str, THREADS))} threads, {failures} differ; {note}")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
