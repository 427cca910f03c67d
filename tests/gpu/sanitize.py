#!/usr/bin/env python3
"""Runs every kernel of the samples under one tool of compute-sanitizer.

    sanitize.py COMPUTE_SANITIZER TOOL TILEC [SAMPLE…] [--jobs N]     TOOL: memcheck racecheck initcheck synccheck

Each kernel and graph of samples/ and tests/e2e/kernels runs once on the GPU, on its first shape. What the tool
reports is shown, and is a failure; so is a run that fails otherwise. What the GPU backend refuses is counted.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import run_samples

FOUND = 99  # the exit code of a run with findings


def check(sanitizer, tool, tilec, case):
    """How one run went, and what to show of it."""
    line = [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), "--print-limit", "5", tilec, "run", case.source,
            "--entry", case.kernel, "--device", "cuda"]
    for option, words in (("--set", case.sizes), ("--in", [f"{k}={v}" for k, v in case.inputs.items()]),
                          ("--dim", [f"{k}={v}" for k, v in case.dims.items()])):
        for word in words:
            line += [option, word]
    try:
        ran = subprocess.run(line, cwd=case.source.parent, capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired as timeout:
        return "failed", str(timeout)
    text = ran.stdout + ran.stderr
    if re.search(run_samples.MISSING, text):
        return "refused", ""
    # Without its own last line the tool hasn't watched anything.
    watched = re.search(r"(ERROR|RACECHECK) SUMMARY: 0 ", text)
    return ("clean", "") if ran.returncode == 0 and watched else ("failed", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sanitizer")
    parser.add_argument("tool", choices=["memcheck", "racecheck", "initcheck", "synccheck"])
    parser.add_argument("tilec")
    parser.add_argument("samples", nargs="*", help="names of folders; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tilec = os.path.abspath(options.tilec)
    folders = [path.parent for place in run_samples.PLACES for path in sorted(place.glob("*/shapes.json"))
               if not options.samples or path.parent.name in options.samples]
    cases = {}
    for folder in folders:
        for case in run_samples.cases_of(tilec, folder):
            cases.setdefault((case.source, case.kernel), case)
    counts = {"clean": 0, "refused": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        run = lambda case: check(options.sanitizer, options.tool, tilec, case)
        for case, (kind, text) in zip(cases.values(), pool.map(run, cases.values())):
            counts[kind] += 1
            if kind == "failed":
                print(f"FAILED {case}\n    " + text.strip().replace("\n", "\n    "), flush=True)
    print(f"{options.tool}: {counts['clean']} clean, {counts['failed']} failed, {counts['refused']} refused by the backend")
    return 1 if counts["failed"] or not counts["clean"] else 0


if __name__ == "__main__":
    sys.exit(main())
