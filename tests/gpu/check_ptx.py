#!/usr/bin/env python3
"""Makes PTX of every kernel of the given folders for every GPU target, and assembles it.

    check_ptx.py TILEC WORK FOLDER|FILE…
                                        fails on an error, a spill that tilec doesn't tell of, or a remark of
                                        ptxas on wgmma or setmaxnreg

All dimensions are bound to one odd number, so that every mask is needed. Kernels of products are compiled for other
lengths, too, with rows that bulk copies can take, in blocks that are full and not, for each of their types; those of
bench/gpu_kernels.tile for long rows alone. Of some samples, whose rows go in chunks where they are long, the code in artifacts is assembled as well: for lengths that aren't
known, all variants. What `--emit=plan` says of a kernel is compared with its PTX. Kernels of IR (.mlir) have their schedule, for sm_90a. Kernels that the GPU backend can't do yet are refused with "does not have … yet": they are counted and shown. Without
ptxas the PTX goes unassembled, which the last line says.
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

TARGETS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"]
# Those whose code differs little from another one's: of each sample's first kernel alone.
LIKE_OTHERS = ["sm_86", "sm_90", "sm_120"]
EXTENT = "77"
PRODUCTS = ["dots", "orders", "products", "05-matmul-bias", "32-grouped-matmul"]
# A length for all dimensions, and others for some.
WARP_LENGTHS = ["4096", "1000", "512", "4095 K=4096"]
PRODUCT_LENGTHS = {"sm_80": WARP_LENGTHS, "sm_89": WARP_LENGTHS,
                   "sm_90a": ["4096", "1000", "4095 K=4096", "4096 N=256 K=1024"]}
# Rows that no block of threads holds whole, and sums of as many elements.
LONG_ROWS = {"bench/gpu_kernels.tile": ("sm_90a", "77 N=70000 P=70000")}
# What tilec says of a kernel that holds more than registers have room for, such as whole axes that are long.
TOLD = "registers a thread for what a loop carries"
CHOSEN = 16  # bytes
WITH_VARIANTS = ["03-softmax/softmax.tile", "04-layer-norm/layer_norm.tile", "12-cross-entropy/cross_entropy.tile"]
VARIANTS_TARGET = "sm_90a"
HAND_WRITTEN = "sm_90a"
# Whose plans are compared with the code: one with roles and clusters, and one without.
PLANNED = ["sm_80", "sm_90a"]
PTXAS = shutil.which("ptxas") or next(
    (str(p) for p in sorted(pathlib.Path("/usr/local").glob("cuda*/bin/ptxas"))), None)


# Where tilec finds no ptxas: what it makes is assembled here, once.
ALONE = dict(os.environ, PATH=os.devnull, CUDA_HOME=os.devnull)


def run(command, environment=None):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def kernels_of(tilec, path):
    """The kernels of a file with their dimensions that have no default, and the types of a `T`."""
    listing = run([tilec, "info", path]).stdout
    for name, types in re.findall(r"^(?:private )?kernel (\w+)(?:<T: ([^,>]*)>)?", listing, re.M):
        types = types.split(" | ") if types else []
        text = run([tilec, "compile", f"{path}:{name}", "--emit=tile", "--stop-after=elaborate"])
        if text.returncode:
            yield name, None, types, text.stderr
            continue
        dims = re.search(r"dims = \[([^\]]*)\]", text.stdout)
        yield name, re.findall(r'"(\w+)"', dims[1]) if dims else [], types, ""


def check(job):
    tilec, work, path, name, dims, target, lengths, bound = job
    output = work / f"{path.parent.name}-{path.stem}-{name}-{target}-{lengths.replace(' ', '-')}-{bound}.ptx"
    command = [tilec, "compile", f"{path}:{name}", "--emit=ptx", f"--target={target}",
               "-o", str(output)]
    length, *others = lengths.split()
    own = dict(other.split("=") for other in others)
    for dim in dims:
        command += ["--dim", f"{dim}={own.get(dim, length)}"]
    if bound:
        command += ["--bind", f"T={bound}"]
    made = run(command, ALONE)
    title = f"{path.parent.name}/{path.name}:{name} for {target}, lengths of {lengths}" + (f", T = {bound}" if bound else "")
    if made.returncode:
        refused = re.search(r"does not have .* yet|needs [0-9]+ bytes of shared memory", made.stderr)
        return "refused" if refused else "failed", title, refused[0] if refused else made.stderr
    if target in PLANNED:
        plan = run([{"--emit=ptx": "--emit=plan"}.get(word, word) for word in command
                    if word not in ("-o", str(output))], ALONE)
        wrong = plan_error(plan.stdout, output.read_text()) if plan.returncode == 0 else plan.stderr
        if wrong:
            return "failed", title, wrong
    return assemble(output, target, title, may_spill=TOLD in made.stderr)


def facts_of_plan(text):
    """What a plan says that its code has to have."""
    warps = re.findall(r"^  (?:warps: |role \w+: )(\d+)", text, re.M)
    cluster = re.search(r"each a cluster of (\d+) CTAs", text)
    return {"threads": 32 * sum(map(int, warps)), "bytes of shared memory": int(text.rsplit("shared memory: ")[-1].split()[0]),
            "CTAs a program": int(cluster[1]) if cluster else 1, "persistent": ", in persistent CTAs" in text,
            "wgmma": set(re.findall(r": wgmma (m64n\d+k\d+)", text)),
            "mma.sync": set(re.findall(r": mma\.sync (m\d+n\d+k\d+)", text))}


def facts_of_code(text):
    head = text.split("\n", 1)[0]
    cluster = re.search(r"(\d+) blocks a program", head)
    return {"threads": int(re.search(r": (\d+) threads", head)[1]),
            "bytes of shared memory": int(re.search(r"(\d+) bytes of shared memory", head)[1]),
            "CTAs a program": int(cluster[1]) if cluster else 1, "persistent": ", persistent" in head,
            "wgmma": set(re.findall(r"wgmma\.mma_async\.sync\.aligned\.(m64n\d+k\d+)", text)),
            "mma.sync": set(re.findall(r"mma\.sync\.aligned\.(m\d+n\d+k\d+)", text))}


def plan_error(plan, ptx):
    """Where a plan and the code differ; empty: nowhere."""
    said, made = facts_of_plan(plan), facts_of_code(ptx)
    return "; ".join(f"the plan says {said[key]} {key}, the code has {made[key]}" for key in said if said[key] != made[key])


def check_ir(job):
    """A kernel of IR with its schedule, which is for one target."""
    tilec, work, path = job
    output, title = work / f"{path.stem}.ptx", f"{path.parent.name}/{path.name}"
    made = run([tilec, "compile", str(path), "--emit=ptx", f"--target={HAND_WRITTEN}", "-o", str(output)], ALONE)
    return assemble(output, HAND_WRITTEN, title) if made.returncode == 0 else ("failed", title, made.stderr)


def assemble(output, target, title, may_spill=False):
    if not PTXAS:
        return "made", title, ""
    assembled = run([PTXAS, f"-arch={target}", "-v", str(output), "-o", os.devnull])
    if assembled.returncode:
        return "failed", title, assembled.stderr
    # Of each function: PTX may have several. Where threads could have more registers than ptxas took, it was its
    # choice: a few bytes, so that more blocks are on a multiprocessor.
    threads = dict(re.findall(r"\.entry (\w+)\([^{]*\.reqntid (\d+)", output.read_text()))
    functions = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                           r"Used (\d+) registers", assembled.stderr, re.S)
    if not functions:
        return "failed", title, f"what ptxas tells isn't understood: {assembled.stderr}"
    for name, stores, loads, registers in functions:
        there = min(255, 65536 // int(threads[name]) // 8 * 8)
        most = max(int(stores), int(loads))
        if most and not may_spill and (int(registers) >= there or most > CHOSEN):
            return "failed", title, f"spills: {most} bytes, with {registers} registers of {there}"
    remark = re.search(r".*(?:serialized|setmaxnreg).*", assembled.stderr)
    if remark:
        return "failed", title, remark[0]
    output.unlink()
    return "made", title, ""


def variants_of(tilec, work, path):
    """The PTX in an artifact of the file, in files of their own, with titles."""
    artifact = work / f"{path.stem}.tileart"
    made = run([tilec, "compile", str(path), "--emit=artifact", f"--target={VARIANTS_TARGET}", "--no-cache",
                "-o", str(artifact)], ALONE)
    if made.returncode:
        raise SystemExit(f"{path}: {made.stderr}")
    texts = re.findall(rb"// \w+: \d+ threads,[^\0]*", artifact.read_bytes())
    artifact.unlink()
    for number, text in enumerate(texts):
        output = work / f"{path.stem}-{number}.ptx"
        output.write_bytes(text)
        head = text.split(b"\n", 1)[0].decode()
        yield output, VARIANTS_TARGET, f"{path.parent.name}/{path.name}, in an artifact for {VARIANTS_TARGET}: {head}"


def main():
    tilec, work, folders = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    work.mkdir(parents=True, exist_ok=True)
    jobs, variants, results, texts = [], [], [], []
    for folder in folders:
        folder = pathlib.Path(folder)
        texts += [(tilec, work, path) for path in ([] if folder.is_file() else sorted(folder.rglob("*.mlir")))]
        for path in [folder] if folder.is_file() else sorted(folder.rglob("*.tile")):
            title = f"{path.parent.name}/{path.name}"
            if title in WITH_VARIANTS:
                variants += variants_of(tilec, work, path)
            for number, (name, dims, types, problem) in enumerate(kernels_of(tilec, path)):
                if dims is None:
                    results.append(("failed", f"{path}:{name}", problem))
                elif title in LONG_ROWS:
                    jobs += [(tilec, work, path, name, dims, *LONG_ROWS[title], bound) for bound in types or [""]]
                else:
                    jobs += [(tilec, work, path, name, dims, target, EXTENT, "") for target in TARGETS
                             if target not in LIKE_OTHERS or ("samples" in path.parts and number == 0)]
                    if path.parent.name in PRODUCTS:
                        fast = [t for t in types if t != "f32"] or [""]  # which tensor cores have
                        jobs += [(tilec, work, path, name, dims, target, *choice)
                                 for target, lengths in PRODUCT_LENGTHS.items()
                                 for choice in itertools.product(lengths, fast)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results += pool.map(check, jobs)
        results += pool.map(check_ir, texts)
        results += pool.map(lambda variant: assemble(*variant), variants)
    refusals = {}
    for kind, title, text in results:
        if kind == "failed":
            print(f"{title}: {text}")
        elif kind == "refused":
            refusals.setdefault(text, set()).add(title.split(" for ")[0])
    for text, titles in sorted(refusals.items()):
        print(f"the GPU backend {text}: {', '.join(sorted(titles))}")
    if len(variants) < 8 * len(WITH_VARIANTS):
        results.append(("failed", "artifacts", ""))
        print(f"only {len(variants)} variants were found in artifacts")
    counts = {kind: sum(r[0] == kind for r in results) for kind in ("made", "refused", "failed")}
    print(f"{counts['made']} made, {counts['refused']} refused, {counts['failed']} failed"
          + ("" if PTXAS else "; NOT ASSEMBLED: there is no ptxas"))
    return 1 if counts["failed"] or not counts["made"] else 0


if __name__ == "__main__":
    sys.exit(main())
