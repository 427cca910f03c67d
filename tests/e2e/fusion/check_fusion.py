#!/usr/bin/env python3
"""Kernels and bytes of graphs after fusion, against what is known by hand, and their results.

    check_fusion.py TILEC [GRAPH…] [--device cpu|cuda] [--server PROGRAM]

Each graph of figures.json and refusals.json, from figures.tile or refusals.tile if it names no `file`, is planned for an H200 and for a CPU with the dims
that are named there. `kernels` are those before and after, `bytes` what has to move, as expressions over the dims, both by device where they differ.
`reason` stands for what stays apart, between kernels or (`"merge": true`) side by side, `hint` for what helps, `gone` for calls that go before anything
is fused, and why. The memory between kernels that is planned for has to be that which a run takes. `writes` and `reads` have the elements of a tensor that a point of its producer writes and one of its consumer reads, over
their binders: the report has to show a witness, and that has to agree with them. Then the graph runs, as it is and fused, on odd sizes: in the
interpreter both have the same bits, on the device they are near.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
TABLES = ["figures", "refusals"]
sys.path.insert(0, str(FOLDER.parent))
import check_reasons  # noqa: E402
import tilec_runs  # noqa: E402


def source(case):
    return FOLDER / case["file"]


def is_at(program, elements, element):
    """Whether one of a program's points, "i = 0..64, n = 3", has the element among its own."""
    ranges = [re.fullmatch(r"(\w+) = (\d+)(?:\.\.(\d+))?", binder).groups() for binder in program.split(", ")]
    spans = [range(int(low), int(high or int(low) + 1)) for _, low, high in ranges]
    names = [name for name, _, _ in ranges]
    return any(element in eval(elements, dict(zip(names, point))) for point in itertools.product(*spans))


def check_witness(boundary, wanted):
    found = boundary.get("witness")
    if not found:
        return [f"no witness for `{boundary['tensor']}`"]
    name, indices = re.fullmatch(r"(\w+)\[(.*)\]", found["element"]).groups()
    element = tuple(map(int, indices.split(", ")))
    problems = [f"the program ({program}) does not {what[:-1]} {found['element']}" for what, who in (("writes", "writers"), ("reads", "readers"))
                for program in found[who] if not is_at(program, wanted[what], element)]
    several = max(found["writers"], found["readers"], key=len)
    if name != boundary["tensor"] or len(set(several)) != 2 or len(found["writers"] + found["readers"]) != 3:
        problems.append(f"the witness is {found}")
    return problems


def refusals(report, case, device):
    wanted, problems = case.get("reason"), []
    if isinstance(wanted, dict):
        wanted = wanted.get(device)
    if wanted is None:
        return problems
    places = report["shared_reads" if case.get("shared") else "boundaries"]
    if case.get("merge"):
        places = [entry for entry in report["ledger"] if entry["transform"] == "merge"]
    found = [place for place in places if wanted in place.get("reason", "")]
    if not found:
        return [f"none of {[place.get('reason') for place in places]} says `{wanted}` for {device}"]
    if case.get("hint", "") not in found[0].get("hint", "none"):
        problems.append(f"the hint is `{found[0].get('hint')}`")
    return problems + (check_witness(found[0], case) if "reads" in case else [])


def report_of(tilec, graph, case, device, dims):
    words = [tilec, "fuse", f"{source(case)}:{graph}", f"--device={device}", "--explain=json"]
    for name, value in dims.items():
        words += ["--dim", f"{name}={value}"]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120)
    return (None, f"tilec fuse: {made.stderr}") if made.returncode else (json.loads(made.stdout), None)


def plan(tilec, graph, case, device):
    report, problem = report_of(tilec, graph, case, device, case["dim"])
    if problem:
        return [problem]
    problems = []
    for when, calls, kernels, expression in zip(("before", "after"), ("calls", "kernels"), case["kernels"],
                                                case.get("bytes", [None, None])):
        kernels, expression = (value[device] if isinstance(value, dict) else value for value in (kernels, expression))
        if len(report[calls]) != kernels:
            problems.append(f"{len(report[calls])} kernels {when} for {device}, not {kernels}: "
                            + "; ".join(b.get("reason", "?") for b in report["boundaries"]))
        moved = report[when]["bytes_read"] + report[when]["bytes_written"]
        if expression and moved != eval(expression, {}, dict(case["dim"])):
            problems.append(f"{moved:.0f} bytes {when} for {device}, not {expression}")
    problems += refusals(report, case, device)
    problems += [f"`{check_reasons.internal(reason)}` is no word of the user's: {reason}" for reason in check_reasons.reasons(report)
                 if check_reasons.internal(reason)]
    gone = [(call["callee"], call["gone"]) for call in report["calls"] if "gone" in call]
    wanted = case.get("gone", [])
    if len(gone) != len(wanted) or any(name != callee or not why.startswith(text)
                                       for (name, text), (callee, why) in zip(wanted, gone)):
        problems.append(f"{gone} are gone for {device}, not {wanted}")
    return problems


def run(runs, graph, case, device, mode):
    words = ["run", source(case), "--entry", graph, "--json", f"--device={device}", f"--fuse={mode}",
             *(["--check"] if device != "interp" else [])]
    for name, spec in case["in"].items():
        words += ["--in", f"{name}={spec}"]
    ran = runs.run(words, timeout=300)
    report = json.loads(ran.stdout) if ran.stdout else {"ok": False}
    if not report["ok"]:
        return None, f"--fuse={mode} on {device}: {ran.stderr or ran.stdout}"
    return report, None


def peak_problems(tilec, graph, case, ran):
    """The memory between kernels that is planned for, at the shapes of the inputs, is that of the runs as they are and fused."""
    planned, problem = report_of(tilec, graph, case, "cpu", {})
    if problem:
        return [problem]
    dims = {}
    for tensor in planned["tensors"]:
        names = tensor["type"].split("[")[1].rstrip("]").split(", ")
        if tensor["from"] is None:
            dims |= {name: extent for name, extent in zip(names, case["in"][tensor["name"]].split(":")[1].split("x")) if name.isidentifier()}
    planned, problem = report_of(tilec, graph, case, "cpu", dims)
    return [problem] if problem else [
        f"{when} fusion {planned[when]['peak_bytes_between']:.0f} bytes between kernels are planned for, {ran[mode]['memory']['intermediate_bytes']} are taken"
        for when, mode in (("before", "off"), ("after", "exact"))
        if planned[when]["peak_bytes_between"] != ran[mode]["memory"]["intermediate_bytes"]]


def results(tilec, runs, graph, case, device):
    problems = []
    found = {}
    for mode in ("off", "exact"):
        found[mode], problem = run(runs, graph, case, "interp", mode)
        problems += [problem] if problem else []
    if not problems:
        if len({json.dumps([output["checksum"] for output in report["outputs"]]) for report in found.values()}) > 1:
            problems.append("the interpreter finds different bits after fusion")
        problems += peak_problems(tilec, graph, case, found)
    problem = run(runs, graph, case, device, "exact")[1]
    return problems + ([problem] if problem else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--server", metavar="PROGRAM")
    options = parser.parse_args()
    tilec = os.path.abspath(options.tilec)
    cases = {graph: {"file": f"{table}.tile", **case} for table in TABLES
             for graph, case in json.loads((FOLDER / f"{table}.json").read_text()).items()}
    runs = tilec_runs.runs_of(tilec, options.server, options.device)
    failed = 0
    try:
        for graph in options.graphs or cases:
            case = cases[graph]
            problems = [p for device in ("h200", "cpu") for p in plan(tilec, graph, case, device)]
            problems += results(tilec, runs, graph, case, options.device)
            failed += bool(problems)
            for problem in problems:
                print(f"{graph}: {problem}")
    finally:
        runs.close()
    print(f"{len(options.graphs or cases)} graphs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
