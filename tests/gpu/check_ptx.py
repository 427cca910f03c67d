#!/usr/bin/env python3
"""Makes PTX of every kernel of the given folders for every GPU target, and assembles it.

    check_ptx.py TILEC WORK FOLDER…     fails on an error, or a spill that isn't known

All dimensions but a few are bound to one odd number, so that every mask is needed. Kernels that the GPU
backend can't do yet are refused with "does not have … yet": they are counted and shown. Without
ptxas the PTX goes unassembled, which the last line says.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

TARGETS = ["sm_80", "sm_89", "sm_90a", "sm_100a"]
EXTENT = "77"
# Many masks live at once: ptxas puts a few of them into memory, with half of the registers free. The last one has
# all of them in use.
KNOWN_SPILLS = {"08-convolution/convolution.tile:convolution": 16, "digits/digits.tile:best": 16,
                "digits/digits.tile:softmax": 16, "halves/halves.tile:convolution": 16,
                "sorts/sorts.tile:rows": 16, "26-attention-backward/attention_backward.tile:attention_backward": 64}
PTXAS = shutil.which("ptxas") or next(
    (str(p) for p in sorted(pathlib.Path("/usr/local").glob("cuda*/bin/ptxas"))), None)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def kernels_of(tilec, path):
    """The kernels of a file with their dimensions that have no default."""
    listing = run([tilec, "info", path]).stdout
    for name in re.findall(r"^(?:private )?kernel (\w+)", listing, re.M):
        text = run([tilec, "compile", f"{path}:{name}", "--emit=tile", "--stop-after=elaborate"])
        if text.returncode:
            yield name, None, text.stderr
            continue
        dims = re.search(r"dims = \[([^\]]*)\]", text.stdout)
        yield name, re.findall(r'"(\w+)"', dims[1]) if dims else [], ""


def check(job):
    tilec, work, path, name, dims, target = job
    output = work / f"{path.parent.name}-{path.stem}-{name}-{target}.ptx"
    command = [tilec, "compile", f"{path}:{name}", "--emit=ptx", f"--target={target}",
               "-o", str(output)]
    for dim in dims:
        command += ["--dim", f"{dim}={EXTENT}"]
    made = run(command)
    title = f"{path.parent.name}/{path.name}:{name} for {target}"
    if made.returncode:
        refused = re.search(r"does not have .* yet|needs [0-9]+ bytes of shared memory", made.stderr)
        return "refused" if refused else "failed", title, refused[0] if refused else made.stderr
    if not PTXAS:
        return "made", title, ""
    assembled = run([PTXAS, f"-arch={target}", "-v", str(output), "-o", os.devnull])
    if assembled.returncode:
        return "failed", title, assembled.stderr
    # Of each function: PTX may have several.
    spills = re.findall(r"(\d+) bytes spill (?:stores|loads)", assembled.stderr)
    most = max(map(int, spills), default=0)
    if most > KNOWN_SPILLS.get(title.split(" for ")[0], 0):
        return "failed", title, f"spills: {most} bytes"
    output.unlink()
    return "made", title, ""


def main():
    tilec, work, folders = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    work.mkdir(parents=True, exist_ok=True)
    jobs, results = [], []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.tile")):
            for name, dims, problem in kernels_of(tilec, path):
                if dims is None:
                    results.append(("failed", f"{path}:{name}", problem))
                else:
                    jobs += [(tilec, work, path, name, dims, target) for target in TARGETS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results += pool.map(check, jobs)
    refusals = {}
    for kind, title, text in results:
        if kind == "failed":
            print(f"{title}: {text}")
        elif kind == "refused":
            refusals.setdefault(text, set()).add(title.split(" for ")[0])
    for text, titles in sorted(refusals.items()):
        print(f"the GPU backend {text}: {', '.join(sorted(titles))}")
    counts = {kind: sum(r[0] == kind for r in results) for kind in ("made", "refused", "failed")}
    print(f"{counts['made']} made, {counts['refused']} refused, {counts['failed']} failed"
          + ("" if PTXAS else "; NOT ASSEMBLED: there is no ptxas"))
    return 1 if counts["failed"] or not counts["made"] else 0


sys.exit(main())
