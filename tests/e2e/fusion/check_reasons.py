#!/usr/bin/env python3
"""Whether all that `tilec fuse` says of why kernels stay apart is in the words of those who wrote them.

    check_reasons.py TILEC FOLDER…

Every graph in the folders' .tile files is planned for an H200 and for a CPU. Of no entry may the reason have a name of an op or a
type of the IR in it, what its verifier says, or the symbol of a fused kernel; and nothing may say that tilec has not found a way to
write a kernel, which is a fault of its own.
"""

import json
import pathlib
import re
import subprocess
import sys

INTERNAL = re.compile(r"\b(?:tile_gpu|tile|arith|math|scf|affine|builtin|func|tensor|memref|vector|ub)\.\w+|'[\w.]+' op\b|\bop\b|\b[Oo]perand\b"
                      r"|\bSSA\b|\bregion\b|\bblock argument\b|<<UNKNOWN|![a-z_]+\.|#[a-z_]+\.|\baffine_map\b|\bmemref<|\btensor<|\bnot verified\b"
                      r"|`\w+(?:\.\w+)+`|no way to write the two as one kernel")
GRAPH = re.compile(r"^graph (\w+)(?:<([^>]*)>)?", re.MULTILINE)


def internal(reason):
    """What in a reason is no word of the user's; None if nothing is."""
    found = INTERNAL.search(reason)
    return found and found.group()


def reasons(report):
    for entry in [*report["ledger"], *report["boundaries"], *report["shared_reads"]]:
        yield entry.get("reason", "")


def main():
    tilec, *folders = sys.argv[1:]
    graphs = problems = told = 0
    for path in sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.tile")):
        for graph, generics in GRAPH.findall(path.read_text(errors="replace")):
            types = [generic for generic in generics.split(",") if not generic.strip().startswith("const ")]
            binds = [word for name, first in re.findall(r"(\w+)(?:: *(\w+)(?: *\| *\w+)*)?", ",".join(types))
                     for word in ("--bind", f"{name}={first or 'f32'}")]
            for device in "h200", "cpu":
                made = subprocess.run([tilec, "fuse", f"{path}:{graph}", f"--device={device}", "--explain=json", *binds], capture_output=True,
                                      text=True, timeout=300)
                if made.returncode == 1:
                    continue  # a graph that is wrong, as many of the tests are
                if made.returncode:
                    print(f"{path}:{graph}: exit code {made.returncode}: {made.stderr[-500:]}")
                    problems += 1
                    continue
                graphs += 1
                for reason in set(reasons(json.loads(made.stdout))):
                    told += bool(reason)
                    if internal(reason):
                        print(f"{path}:{graph} for {device}: `{internal(reason)}` in: {reason}")
                        problems += 1
    print(f"{graphs} graphs, {told} reasons, {problems} problems")
    return problems > 0 or graphs < 20


if __name__ == "__main__":
    sys.exit(main())
