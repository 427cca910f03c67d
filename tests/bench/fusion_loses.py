#!/usr/bin/env python3
"""No graph is slower fused than apart: every graph of samples, tests/e2e/fusion and --graphs, at several sizes.

    fusion_loses.py TILEC [--device cpu|cuda] [--server PROGRAM] [--graphs DIR]… [--only GRAPH]… [--out FILE.json]
                    [--sample N --seed S] [--resume] [--minutes M] [--warm | --cold] [--errors] [--jobs N]

Sizes are made for each graph (fusion_sizes.py), planned by `tilec fuse`, compiled beforehand in parallel, and measured by
`tilec bench --fuse=off,exact`: both on the same inputs, by turns in one process, as a user of that command sees them. On
a GPU that is the time between two events around what is launched, a CUDA graph from two launches on, with flushed caches;
on a CPU the whole run with the memory that it takes, with warm caches, for a flush takes longer there than most graphs
(--cold flushes). Graphs whose plan is the same fused and apart are counted and not measured.

It fails where a graph is slower fused (fusion_verdict.py: by more than 3 %, and 1 µs on a GPU or 5 µs on a CPU) or where 60
rounds don't decide that, in this process and in another one; where fused it takes more memory between its kernels; and where
it runs apart alone. Exit codes: 0 passed; 1 failed; 2 a wrong call; 77 nothing failed, but not all was measured: a sample, or
--minutes were over (--resume goes on from what --out has of the same commit and device). --errors shows what the model
had predicted, which the JSON has in any case. Needs Python alone.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import fusion_sizes  # noqa: E402
import fusion_verdict  # noqa: E402
import tilec_runs  # noqa: E402

PLACES = [ROOT / "samples", ROOT / "tests" / "e2e" / "fusion"]
NOT_COMPLETE = 77
SECONDS = {"cuda": 0.25, "cpu": 0.6}  # of a measurement; more where 15 rounds take longer
MORE_SECONDS = {"cuda": 0.5, "cpu": 4}  # of one that has to decide; more where 60 rounds take longer
PER_GRAPH = 3  # sizes of one graph in a sample
# What a usual CPU does at least, to guess how long a run takes.
CPU_BYTES, CPU_OPERATIONS = 4e9, 4e9


#--- Graphs and their sizes -------------------------------------------------------------

class Graph:
    """One of a file, with what its folder's tables know of inputs."""

    def __init__(self, path, name):
        self.path, self.name = path, name

    def __str__(self):
        try:
            return f"{self.path.relative_to(ROOT)}:{self.name}"
        except ValueError:
            return f"{self.path.name}:{self.name}"

    def examples(self):
        """Inputs from shapes.json beside it; or inputs and dims of a usual size from FILE.json beside FILE.tile."""
        found, usual = [], {}
        for table in sorted(self.path.parent.glob("*.json")):
            entry = read_json(table).get(self.name)
            if not isinstance(entry, dict):
                continue
            if self.path.parent.joinpath(entry.get("file", self.path.name)).resolve() != self.path.resolve():
                continue
            if "shapes" in entry:
                found += [shape for shape in entry["shapes"] if "in" in shape]
            elif table.stem == self.path.stem or "file" in entry:
                found += [{"in": entry["in"]}] if "in" in entry else []
                usual = entry.get("dim", {})
        return found, usual


def read_json(path):
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def graphs_below(places):
    found = []
    for place in places:
        for path in sorted(pathlib.Path(place).rglob("*.tile")):
            text = re.sub(r"//[^\n]*", "", path.read_text(errors="replace"))
            found += [Graph(path, name) for name in re.findall(r"^\s*graph\s+(\w+)", text, re.M)]
    return found


class Planner:
    """Asks tilec fuse."""

    def __init__(self, runs, device):
        self.runs, self.device = runs, device

    def __call__(self, graph, dims=None):
        """The report, or why there is none."""
        words = ["fuse", f"{graph.path}:{graph.name}", f"--device={self.device}", "--explain=json"]
        words += [word for name, value in (dims or {}).items() for word in ("--dim", f"{name}={value}")]
        try:
            ran = self.runs.run(words, timeout=60)
        except subprocess.TimeoutExpired:
            return "tilec fuse takes longer than 60 s"
        if ran.returncode:
            return first_line(ran.stderr)
        report = json.loads(ran.stdout)
        # Thousands of them are kept, and the rest is most of each.
        return {key: report[key] for key in ("inputs", "dims", "assumed_dims", "assumed_extent", "calls", "kernels", "before", "after")} | {
            "tensors": [{"name": tensor["name"], "type": tensor["type"]} for tensor in report["tensors"]]}

    def problem(self, graph, words):
        """What a run with these inputs would be refused for. tilec fuse knows no numbers, and so can't ask what the kernels
        of a graph require that takes some; a prediction, for whatever device, does."""
        ran = self.runs.run(["bench", f"{graph.path}:{graph.name}", "--device=h200", "--fuse=off", *words], timeout=60)
        return first_line(ran.stderr) if ran.returncode else None


def first_line(text):
    lines = [line for line in text.splitlines() if "error:" in line] or text.splitlines() or ["no output"]
    return lines[0].strip()


def is_same_plan(report):
    """Whether fusing changes nothing: a kernel a call, and all calls are there."""
    return (len(report["kernels"]) == len(report["calls"]) and not any("gone" in call for call in report["calls"])
            and all(len(kernel["calls"]) == 1 for kernel in report["kernels"]))


class Case:
    """A graph at one size."""

    def __init__(self, graph, shape, kind, dims, report, smaller):
        self.graph, self.kind, self.dims = graph, kind, dims
        self.shape, self.next_smaller = shape, smaller
        self.words = shape.words(dims)
        self.bytes = shape.bytes(dims)
        self.is_same = is_same_plan(report)
        self.predicted = {when: report[key]["seconds"] for when, key in (("apart", "before"), ("fused", "after"))}
        self.kernels = [sum("gone" not in call for call in report["calls"]), len(report["kernels"])]

    def smaller(self):
        """A smaller size of the kind; None if there is none."""
        size = self.next_smaller()
        return Case(self.graph, self.shape, *size) if size else None

    def size(self):
        return " ".join(f"{name}={value}" for name, value in self.dims.items())

    def key(self):
        return f"{self.graph} {self.size()}"

    def line(self, device, *more):
        return ["bench", f"{self.graph.path}:{self.graph.name}", f"--device={device}", "--json", *self.words, *more]


def cases_of(graph, planner, limits, device):
    """All of a graph, or why there are none."""
    report = planner(graph)
    if isinstance(report, str):
        return report
    examples, usual = graph.examples()
    shape = fusion_sizes.Shape(report, fusion_sizes.best_example(report, examples), usual)

    known = {}
    takes_numbers = any("[" not in entry["type"] and not entry["optional"] for entry in shape.inputs)

    def plan(dims):
        key = tuple(sorted(dims.items()))
        if key not in known:
            known[key] = planner(graph, dims)
            if takes_numbers and not isinstance(known[key], str):
                known[key] = planner.problem(graph, shape.words(dims)) or known[key]
        return known[key]

    groups = fusion_sizes.groups_of(shape, plan)
    if groups is None:
        return f"no size was found that it takes: {plan(shape.base)}"
    sizes = fusion_sizes.sizes_of(shape, groups, plan, limits, lambda report: seconds_of(report, device))
    if not sizes:
        return "all sizes are too large for this test"
    return [Case(graph, shape, *size) for size in sizes]


def seconds_of(report, device):
    """What a run apart may take."""
    before = report["before"]
    if device == "cuda":
        return before["seconds"] or 0
    moved = before["bytes_read"] + before["bytes_written"]
    return moved / CPU_BYTES + (before["operations"] or 0) / CPU_OPERATIONS


#--- Measurements -----------------------------------------------------------------------

class Meter:
    """Measures cases one after the other. `runs` stays, `fresh` makes one that has run nothing."""

    def __init__(self, runs, fresh, device, is_warm):
        self.runs, self.fresh, self.device, self.is_warm = runs, fresh, device, is_warm

    def bench(self, runs, case, *more):
        """The report of tilec bench, or what went wrong."""
        words = case.line(self.device, "--no-copies", "--warmups=1", *(["--warm"] if self.is_warm else []), *more)
        try:
            ran = runs.run(words, timeout=300)
        except subprocess.TimeoutExpired:
            return "it takes longer than 300 s"
        if ran.returncode:
            return first_line(ran.stderr or ran.stdout)
        return json.loads(ran.stdout)

    def both(self, runs, case, *more):
        return self.bench(runs, case, "--fuse=off,exact", *more)

    def judge(self, report):
        apart, fused = (kernel["timing"]["by_round"] for kernel in report["kernels"])
        return fusion_verdict.judge(apart, fused, self.device)

    def limited(self, case):
        """The case, or a smaller one of which a run apart takes no longer than it may. What takes how long on a GPU is
        known well enough before."""
        while self.device == "cpu":
            report = self.bench(self.runs, case, "--fuse=off", "--runs=2")
            if isinstance(report, str) or min(report["kernels"][0]["timing"]["by_round"]) <= fusion_sizes.CPU.seconds:
                break
            if not (smaller := case.smaller()):
                break
            case = smaller
        return case

    def row(self, case):
        row = {"graph": str(case.graph), "kind": case.kind, "dims": case.dims, "key": case.key(), "bytes": case.bytes,
               "kernels": case.kernels, "predicted_seconds": case.predicted}
        report = self.both(self.runs, case, f"--seconds={SECONDS[self.device]}")
        if not isinstance(report, str) and (verdict := self.judge(report)).word == "open":
            count = int(MORE_SECONDS[self.device] / (verdict.apart + verdict.fused))
            report = self.both(self.runs, case, f"--runs={min(1000, max(fusion_verdict.MOST_ROUNDS, count))}")
        if not isinstance(report, str) and self.judge(report).word in ("LOST", "UNDECIDED"):
            row["first_ratio"] = self.judge(report).ratio
            report = self.confirm(case, report)
        if isinstance(report, str):
            return row | self.failure(case, report)
        return row | self.result(report)

    def confirm(self, case, report):
        """The same in another process; as many runs at least, and more where those decided nothing."""
        runs = self.fresh()
        more = 3 if self.judge(report).word == "UNDECIDED" else 1
        try:
            count = max(fusion_verdict.MOST_ROUNDS, more * len(report["kernels"][0]["timing"]["by_round"]))
            return self.both(runs, case, f"--runs={count}")
        finally:
            runs.close()

    def failure(self, case, problem):
        """What runs neither way says nothing of fusion."""
        apart = self.bench(self.runs, case, "--fuse=off", "--runs=1")
        if isinstance(apart, str):
            return {"verdict": "skipped", "why": apart}
        return {"verdict": "FAILS", "why": problem, "apart_seconds": apart["kernels"][0]["seconds"]}

    def result(self, report):
        verdict = self.judge(report)
        memory = [kernel["memory"]["intermediate_bytes"] for kernel in report["kernels"]]
        word = "MEMORY" if memory[1] > memory[0] and verdict.word == "passed" else verdict.word
        return {"verdict": "UNDECIDED" if word == "open" else word, "ratio": verdict.ratio,
                "interval": [verdict.low, verdict.high], "rounds": verdict.rounds, "apart_seconds": verdict.apart,
                "fused_seconds": verdict.fused, "launches": [kernel["launches"] for kernel in report["kernels"]],
                "memory_bytes": memory, "caches": report["caches"], "card": report["device"]}


#--- What is printed ----------------------------------------------------------------------

def time_text(seconds):
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def table(rows):
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if n < 2 else cell.rjust(width)
                               for n, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def worst_table(rows, most=20):
    """What failed, then the worst ratios."""
    failed = [row for row in rows if row["verdict"] not in ("passed", "skipped")]
    passed = sorted((row for row in rows if row["verdict"] == "passed"), key=lambda row: -row["ratio"])
    lines = [["graph", "size", "kernels", "apart", "fused", "ratio", "95 %", "verdict"]]
    for row in sorted(failed, key=lambda row: -row.get("ratio", 1e9)) + passed[:max(0, most - len(failed))]:
        has_ratio = "ratio" in row
        lines.append([row["graph"], " ".join(f"{name}={value}" for name, value in row["dims"].items()),
                      " → ".join(map(str, row["kernels"])), time_text(row["apart_seconds"]),
                      time_text(row["fused_seconds"]) if has_ratio else "-", f"{row['ratio']:.3f}" if has_ratio else "-",
                      "{:.3f}–{:.3f}".format(*row["interval"]) if has_ratio else "-",
                      row["verdict"] + ("" if has_ratio else f": {row['why'][:80]}")])
    return table(lines)


def errors_table(rows):
    """How far off the model is, where most in what it is for: the ratio."""
    def off(row):
        predicted = row["predicted_seconds"]
        return predicted["fused"] / predicted["apart"] / row["ratio"]

    lines = [["graph", "size", "apart", "predicted", "fused", "predicted", "ratio", "predicted"]]
    known = [row for row in rows if "ratio" in row and all(row["predicted_seconds"].values())]
    for row in sorted(known, key=lambda row: -max(off(row), 1 / off(row))):
        predicted = row["predicted_seconds"]
        lines.append([row["graph"], " ".join(f"{name}={value}" for name, value in row["dims"].items()),
                      time_text(row["apart_seconds"]), time_text(predicted["apart"]), time_text(row["fused_seconds"]),
                      time_text(predicted["fused"]), f"{row['ratio']:.3f}", f"{predicted['fused'] / predicted['apart']:.3f}"])
    return table(lines)


def commit():
    if (ROOT / "version.txt").exists():  # of a bundle
        return (ROOT / "version.txt").read_text().strip()
    described = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


#--- All of it ----------------------------------------------------------------------------

def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--server", metavar="PROGRAM", help="tile_command_server: few processes make all runs")
    parser.add_argument("--graphs", action="append", default=[], metavar="DIR", help="a folder of graphs besides")
    parser.add_argument("--only", action="append", default=[], metavar="GRAPH", help="graphs of these names alone: not all")
    parser.add_argument("--out", default="fusion-loses.json", metavar="FILE.json")
    parser.add_argument("--sample", type=int, metavar="N", help="so many cases by chance: not all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="keep what --out has, if commit and device are the same")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--warm", dest="is_warm", action="store_true", default=None)
    parser.add_argument("--cold", dest="is_warm", action="store_false")
    parser.add_argument("--errors", action="store_true", help="show what was predicted beside what was measured")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at the same time")
    return parser.parse_args()


def plan_all(graphs, options, runs):
    """Cases and, by graph, why there are none."""
    planner = Planner(runs, options.device)
    limits = fusion_sizes.GPU if options.device == "cuda" else fusion_sizes.CPU
    cases, refused, chance = [], {}, random.Random(options.seed)
    if options.sample:
        chance.shuffle(graphs)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for first in range(0, len(graphs), 4 * options.jobs):
            several = graphs[first:first + 4 * options.jobs]
            for graph, found in zip(several, pool.map(lambda graph: cases_of(graph, planner, limits, options.device), several)):
                if isinstance(found, str):
                    refused[str(graph)] = found
                elif options.sample:
                    different = [case for case in found if not case.is_same]
                    cases += chance.sample(different, min(PER_GRAPH, len(different)))
                else:
                    cases += found
            if options.sample and len(cases) >= 2 * options.sample:
                break
    if options.sample:
        cases = chance.sample(cases, min(options.sample, len(cases)))
    return cases, refused


# Sizes that are compiled, by all jobs, before they are measured one by one: a run that ends early has compiled no more
# than it needed.
AT_A_TIME = 64


def compile_all(cases, options, runs, deadline):
    def make(case):
        if time.monotonic() < deadline:
            try:
                runs.run(case.line(options.device, "--no-run", "--fuse=off,exact"), timeout=300)
            except subprocess.TimeoutExpired:
                pass  # told when it is measured

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(make, cases))


class Results:
    """Rows, kept in a file."""

    def __init__(self, options):
        self.path = pathlib.Path(options.out)
        self.head = {"device": options.device, "commit": commit()}
        self.rows = []
        old = read_json(self.path) if options.resume else {}
        if all(old.get(key) == value for key, value in self.head.items()):
            self.rows = [row for row in old.get("rows", []) if row["verdict"] in ("passed", "skipped")]
        self.known = {row[key] for row in self.rows for key in ("key", "planned")}

    def write(self, **more):
        card = next((row["card"] for row in self.rows if "card" in row), None)
        content = self.head | {"card": card, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                               **more, "rows": self.rows}
        self.path.write_text(json.dumps(content, indent=1) + "\n")


def measure_all(cases, meter, results, deadline):
    """All, or what there is time for."""
    for n, case in enumerate(cases):
        if time.monotonic() > deadline:
            return
        limited = meter.limited(case)
        if limited.key() in results.known:
            results.known.add(case.key())  # two kinds have become one size
            continue
        row = meter.row(limited) | {"planned": case.key()}
        results.rows.append(row)
        results.known |= {row["key"], row["planned"]}
        detail = f"{row['ratio']:.3f}" if "ratio" in row else row["why"]
        print(f"[{len(results.rows)}] {row['key']}: {row['verdict']}, {detail}", flush=True)
        if n % 20 == 0:
            results.write(passed=False)


def close(options, results, same, refused, left):
    """The tables, the file and the exit code."""
    rows = results.rows
    failed = [row for row in rows if row["verdict"] not in ("passed", "skipped")]
    skipped = [row for row in rows if row["verdict"] == "skipped"]
    is_partial = bool(options.sample or options.only or left)
    results.write(passed=not failed and not is_partial, same_plan=same, refused=refused, left=left)
    for graph, why in refused.items():
        print(f"not measured: {graph}: {why}")
    for row in skipped:
        print(f"not measured: {row['key']}: {row['why']}")
    if options.errors:
        print(errors_table(rows))
    print(worst_table(rows))
    print(f"{len(rows) - len(skipped)} measured, {len(failed)} failed; {same} have the same plan fused and apart, {len(skipped)} "
          f"don't run, {len(refused)} graphs have no size" + (f"; {left} left, go on with --resume" if left else ""))
    if failed:
        return 1
    if is_partial:
        print("not all was measured: this has not passed")
    return NOT_COMPLETE if is_partial else 0


def main():
    options = parse()
    start = time.monotonic()
    deadline = start + 60 * options.minutes
    is_warm = options.is_warm if options.is_warm is not None else options.device == "cpu"
    graphs = [graph for graph in graphs_below(PLACES + options.graphs) if not options.only or graph.name in options.only]
    if not graphs:
        print("fusion_loses.py: error: there is no such graph", file=sys.stderr)
        return 2
    results = Results(options)

    def fresh():
        return tilec_runs.runs_of(options.tilec, options.server, options.device)

    runs = fresh()
    cases, refused = plan_all(graphs, options, runs)
    to_measure = [case for case in cases if not case.is_same]
    print(f"{len(graphs)} graphs, {len(cases)} sizes, {len(to_measure)} to measure; planned after "
          f"{time.monotonic() - start:.0f} s", flush=True)
    to_do = [case for case in to_measure if case.key() not in results.known]
    compiling = 0
    for first in range(0, len(to_do), AT_A_TIME):
        before = time.monotonic()
        compile_all(to_do[first:first + AT_A_TIME], options, runs, deadline)
        compiling += time.monotonic() - before
        runs.close()
        runs = fresh()
        meter = Meter(runs, fresh, options.device, is_warm)
        measure_all(to_do[first:first + AT_A_TIME], meter, results, deadline)
        runs = meter.runs
    runs.close()
    left = sum(case.key() not in results.known for case in to_measure)
    print(f"compiled for {compiling:.0f} s")
    print(f"measured after {time.monotonic() - start:.0f} s")
    return close(options, results, len(cases) - len(to_measure), refused, left)


if __name__ == "__main__":
    sys.exit(main())
