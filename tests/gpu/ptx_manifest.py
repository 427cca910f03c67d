#!/usr/bin/env python3
"""Hashes of the PTX of every kernel of the given folders and files, for every GPU target: what a change changes.

    ptx_manifest.py TILEC FOLDER|FILE… > manifest.txt
    ptx_manifest.py TILEC FOLDER|FILE… --against manifest.txt    lists what differs; exit code 1 if anything does

A line has a hash, the kernel, the target and the length of all dimensions that have no default: one odd number, and one
that all instructions take. What isn't made (a kernel that is refused) has the hash of the message in its place. Lines of
source positions (.loc, .file) don't count.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from check_ptx import ALONE, TARGETS, kernels_of, run  # noqa: E402

LENGTHS = ["77", "4096"]
POSITIONS = re.compile(r"^\s*\.(loc|file)\b.*\n", re.M)


def hash_of(job):
    tilec, title, path, name, dims, bound, target, length = job
    command = [tilec, "compile", f"{path}:{name}", "--emit=ptx", f"--target={target}", "--no-cache"]
    for dim in dims:
        command += ["--dim", f"{dim}={length}"]
    if bound:
        command += ["--bind", f"T={bound}"]
    made = run(command, ALONE)
    text = POSITIONS.sub("", made.stdout) if made.returncode == 0 else "refused: " + made.stderr.replace(str(path), title)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{title}:{name}" + (f" T={bound}" if bound else "") + f" {target} {length}", digest


def manifest(tilec, places):
    jobs = []
    for place in map(pathlib.Path, places):
        for path in [place] if place.is_file() else sorted(place.rglob("*.tile")):
            for name, dims, types, _ in kernels_of(tilec, path):
                jobs += [(tilec, f"{path.parent.name}/{path.name}", path, name, dims or [], bound, target, length)
                         for bound in types or [""] for target in TARGETS for length in LENGTHS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(hash_of, jobs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("places", nargs="+")
    parser.add_argument("--against", help="a manifest that was made before")
    options = parser.parse_args()
    now = manifest(options.tilec, options.places)
    if not options.against:
        print("\n".join(f"{digest} {kernel}" for kernel, digest in sorted(now.items())))
        return 0
    lines = pathlib.Path(options.against).read_text().splitlines()
    before = {kernel: digest for digest, kernel in (line.split(" ", 1) for line in lines)}
    differing = [(kernel, "new" if kernel not in before else "gone" if kernel not in now else "changed")
                 for kernel in sorted(before.keys() | now.keys()) if before.get(kernel) != now.get(kernel)]
    for kernel, what in differing:
        print(f"{what}: {kernel}")
    print(f"{len(now)} compared, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
