#!/usr/bin/env python3
"""Measures how sharp the tolerance of --check is, on every kernel of samples/ and tests/e2e/kernels/.

    check_margins.py TILEC [SAMPLE...] [--seeds N] [--sweeps N] [--first SEED] [--least R] [--elements N] [--server PROGRAM]
                     [--device cpu|cuda] [--jobs N] [--json FILE]

Each kernel runs on those of its shapes that are small, with fresh seeds for its random inputs, and --check tells
how much of what is allowed the worst element of an output takes. What is allowed holds for all tile sizes, so that kernels
of which the default ones show less than R run with others, too (--sweep-tiles), with a few of the seeds. Of each output, over all seeds:

  - none is off by more than is allowed;
  - where some are off, the worst takes at least R of it (1/4 for 1,000 seeds; fewer find less), or at most 2 ulp are
    allowed and at most 1 was seen;
  - where all are equal always, nothing is allowed. With R = 0 only the first rule is held to, as a few seeds allow.

What breaks a rule is shown, and makes the exit code 1.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import run_samples
import tilec_runs


def elements_of(case):
    """Of all inputs; files count as few."""
    total = 0
    for spec in case.inputs.values():
        if shape := re.match(r"(?:randn|uniform|arange|zeros|ones|full:[^:]*):([0-9x]+):", spec):
            size = 1
            for extent in shape[1].split("x"):
                size *= int(extent)
            total += size
    return total


def seeded(spec, seed):
    """The same random input from another seed; all else stays."""
    return re.sub(r"^((?:randn|uniform):[0-9x]*:\w+)(?::[0-9]+)?", rf"\1:{seed}", spec)


def types_of(case):
    names = {match[1] for spec in case.inputs.values()
             if (match := re.match(r"randn:[0-9x]*:(\w+)", spec))}
    return "/".join(sorted(names & {"f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"}))


def key_of(case, entry):
    return case.source.parent.name, case.kernel, types_of(case), entry["output"]


class Margin:
    """Of one output of a kernel, over all its runs."""

    def __init__(self):
        self.runs, self.ratio, self.ulps, self.most_ulps, self.error, self.open = 0, 0.0, 0.0, 0.0, 0.0, 0
        self.where, self.broken = "", ""

    def add(self, entry, run):
        self.runs += 1
        self.open += entry["open"]
        self.error = max(self.error, entry["max_error"] or 0)
        self.most_ulps = max(self.most_ulps, entry["most_ulps_allowed"] or 0)
        if not entry["ok"] and not self.broken:
            self.broken = f"{run}: {entry['text']}"
        if worst := entry.get("worst"):
            self.ulps = max(self.ulps, worst["ulps"] or 0)
            ratio = worst["error"] / worst["allowed"] if worst["allowed"] else float("inf")
            if ratio > self.ratio:
                self.ratio, self.where = ratio, f"{run} at {worst['at']}"

    def problem(self, least):
        if self.broken:
            return f"is off by more than is allowed: {self.broken}"
        if self.ratio == 0 and least > 0:
            return f"is always equal, though up to {self.most_ulps:.3g} ulp are allowed" if self.most_ulps else ""
        if self.ratio < least and not (self.ulps <= 1 and self.most_ulps <= 2.001):
            return f"takes at most {self.ratio:.3f} of what is allowed ({self.ulps:.2g} ulp seen there): {self.where}"
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("samples", nargs="*", help="names of folders; all by default")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=2, help="seeds with which other tile sizes run, too")
    parser.add_argument("--first", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--least", type=float, default=0.25)
    parser.add_argument("--elements", type=int, default=1000, help="inputs of a small shape have no more in all")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--server", metavar="PROGRAM", help="tile_command_server, for many runs in a process")
    parser.add_argument("--json", metavar="FILE", help="all figures")
    options = parser.parse_args()
    tilec = os.path.abspath(options.tilec)
    folders = [path.parent for place in run_samples.PLACES for path in sorted(place.glob("*/shapes.json"))
               if not options.samples or path.parent.name in options.samples]
    cases = [case for folder in folders for case in run_samples.cases_of(tilec, folder)
             if 0 < elements_of(case) <= options.elements and any(map(
                 lambda spec: spec.startswith(("randn", "uniform")), case.inputs.values()))]
    margins, failures = collections.defaultdict(Margin), []

    def run(job):
        case, seed, sweep = job
        words = ["run", case.source, "--entry", case.kernel, "--json", "--check", "--device", options.device]
        for size in case.sizes:
            words += ["--set", size]
        for number, (name, spec) in enumerate(case.inputs.items()):
            words += ["--in", f"{name}={seeded(spec, 100 * seed + number)}"]
        for name, value in case.dims.items():
            words += ["--dim", f"{name}={value}"]
        return case, seed, runs.run(words + ["--sweep-tiles"] * sweep, case.source.parent)

    def run_all(cases, seeds, sweep):
        jobs = ((case, options.first + seed, sweep) for seed in range(seeds) for case in cases)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case, seed, ran in pool.map(run, jobs):
                report = json.loads(ran.stdout) if ran.returncode in (0, 1) and ran.stdout else {}
                if "check" not in report:
                    if options.device == "cuda" and re.search(run_samples.MISSING, ran.stderr):
                        continue
                    failures.append(f"{case}, seed {seed}: exit code {ran.returncode}\n{ran.stderr or ran.stdout}")
                    continue
                for entry in report["check"]:
                    margins[key_of(case, entry)].add(entry, f"{case}, seed {seed}")
                for other in report.get("sweep", []):
                    for entry in other["outputs"]:
                        margins[key_of(case, entry)].add(entry, f"{case} {other['sizes']}, seed {seed}")

    with tempfile.TemporaryDirectory() as place:
        os.environ["TILE_CACHE_DIR"] = os.path.join(place, "cache")
        runs = tilec_runs.runs_of(tilec, options.server, options.device)
        run_all(cases, options.seeds, False)
        if options.least > 0 and options.sweeps > 0:
            low = {key[:3] for key, margin in margins.items() if margin.problem(options.least) and not margin.broken}
            run_all([case for case in cases if key_of(case, {"output": ""})[:3] in low], options.sweeps, True)
        runs.close()
    for (sample, kernel, types, output), margin in sorted(margins.items()):
        if problem := margin.problem(options.least):
            failures.append(f"{sample} {kernel} {types}: {output} {problem}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            [{"output": " ".join(key), **vars(margin)} for key, margin in sorted(margins.items())], indent=1))
    print("\n".join(failures), flush=True)
    print(f"{len(margins)} outputs, {options.seeds} seeds from {options.first} on, {len(failures)} failed")
    return 1 if failures or not margins else 0


if __name__ == "__main__":
    sys.exit(main())
