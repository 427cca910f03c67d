#!/usr/bin/env python3
"""Kernels and bytes of graphs after fusion, against what is known by hand, and their results.

    check_fusion.py TILEC [GRAPH…] [--device cpu|cuda] [--server PROGRAM]

Each graph of figures.json, from figures.tile if it names no `file`, is planned for an H200 and for a CPU with the dims that are named there.
`kernels` are those before and after, `bytes` what has to move, as expressions over the dims, both by device where they differ; `reason` stands for
what stays apart, `gone` for calls that go before anything is fused, and why. Then the graph runs, as it is and fused, on odd sizes: in the interpreter both have the same bits, on the device they are near.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
import tilec_runs  # noqa: E402


def source(case):
    return FOLDER / case.get("file", "figures.tile")


def plan(tilec, graph, case, device):
    words = [tilec, "fuse", f"{source(case)}:{graph}", f"--device={device}", "--explain=json"]
    for name, value in case["dim"].items():
        words += ["--dim", f"{name}={value}"]
    made = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if made.returncode:
        return [f"tilec fuse: {made.stderr}"]
    report, problems = json.loads(made.stdout), []
    for when, calls, kernels, expression in zip(("before", "after"), ("calls", "kernels"), case["kernels"],
                                                case.get("bytes", [None, None])):
        kernels, expression = (value[device] if isinstance(value, dict) else value for value in (kernels, expression))
        if len(report[calls]) != kernels:
            problems.append(f"{len(report[calls])} kernels {when} for {device}, not {kernels}: "
                            + "; ".join(b.get("reason", "?") for b in report["boundaries"]))
        moved = report[when]["bytes_read"] + report[when]["bytes_written"]
        if expression and moved != eval(expression, {}, dict(case["dim"])):
            problems.append(f"{moved:.0f} bytes {when} for {device}, not {expression}")
    reasons = [boundary.get("reason", "") for boundary in report["boundaries"]]
    if "reason" in case and not any(case["reason"] in reason for reason in reasons):
        problems.append(f"none of {reasons} says `{case['reason']}`")
    gone = [(call["callee"], call["gone"]) for call in report["calls"] if "gone" in call]
    wanted = case.get("gone", [])
    if len(gone) != len(wanted) or any(name != callee or not why.startswith(text)
                                       for (name, text), (callee, why) in zip(wanted, gone)):
        problems.append(f"{gone} are gone for {device}, not {wanted}")
    return problems


def checksums(runs, graph, case, device, mode):
    words = ["run", source(case), "--entry", graph, "--json", f"--device={device}", f"--fuse={mode}",
             *(["--check"] if device != "interp" else [])]
    for name, spec in case["in"].items():
        words += ["--in", f"{name}={spec}"]
    ran = runs.run(words, timeout=300)
    report = json.loads(ran.stdout) if ran.stdout else {"ok": False}
    if not report["ok"]:
        return None, f"--fuse={mode} on {device}: {ran.stderr or ran.stdout}"
    return [output["checksum"] for output in report["outputs"]], None


def results(runs, graph, case, device):
    problems = []
    found = {}
    for mode in ("off", "exact"):
        found[mode], problem = checksums(runs, graph, case, "interp", mode)
        problems += [problem] if problem else []
    if found["off"] != found["exact"]:
        problems.append("the interpreter finds different bits after fusion")
    problem = checksums(runs, graph, case, device, "exact")[1]
    return problems + ([problem] if problem else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--server", metavar="PROGRAM")
    options = parser.parse_args()
    tilec = os.path.abspath(options.tilec)
    cases = json.loads((FOLDER / "figures.json").read_text())
    runs = tilec_runs.runs_of(tilec, options.server, options.device)
    failed = 0
    try:
        for graph in options.graphs or cases:
            case = cases[graph]
            problems = [p for device in ("h200", "cpu") for p in plan(tilec, graph, case, device)]
            problems += results(runs, graph, case, options.device)
            failed += bool(problems)
            for problem in problems:
                print(f"{graph}: {problem}")
    finally:
        runs.close()
    print(f"{len(options.graphs or cases)} graphs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
