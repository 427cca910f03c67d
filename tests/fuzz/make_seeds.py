#!/usr/bin/env python3
"""Writes the seed corpus of a fuzzing target into a folder, a file a seed, named by its content.

    make_seeds.py source OUT          every .tile file, and every example of the language's specification
    make_seeds.py ir OUT [TILEC]      the IR texts of the tests; with a compiler, the IR of every sample's kernels, too
"""

import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["samples", "tests/e2e/kernels", "tests/errors", "tests/dsl/inputs", "dsl/std", "tests/fuzz/findings"]

# Right, but too slow to be mutated: expansion up to its bound.
SLOW = {"language-calls-double"}


def source_seeds():
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.tile")):
            if path.stem not in SLOW:
                yield path.read_bytes()
    page = (ROOT / "docs" / "language.md").read_text()
    for example in re.findall(r"^```tile[^\n]*\n(.*?)^```", page, re.M | re.S):
        yield example.encode()


def instances(text):
    """A test's text for each of its types (see tests/codegen/CpuKernelTest.cpp)."""
    types = re.search(r"// types: (.*)", text)
    for name in types[1].split() if types else [""]:
        values = {"$T": name, "$A": name if name[0:1] == "i" or name == "f64" else "f32",
                  "$Z": "0" if name.startswith("i") else "0.0",
                  "$TO_F32": "arith.truncf" if name == "f64" else "arith.extf",
                  "$FROM_F32": "arith.extf" if name == "f64" else "arith.truncf"}
        yield re.sub(r"\$\w+", lambda match: values.get(match[0], match[0]), text)


def ir_seeds(tilec=None):
    for folder in ("tests/codegen/kernels", "tests/ir/text", "tests/fuzz/findings"):
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            for part in path.read_text().split("// -----"):
                for text in instances(part):
                    yield text.encode()
    if not tilec:
        return
    for path in sorted([*(ROOT / "samples").rglob("*.tile"), *(ROOT / "tests/e2e/kernels").rglob("*.tile")]):
        for kernel in re.findall(r"^(?:kernel|graph) (\w+)", path.read_text(), re.M):
            for step in ("elaborate", "form-fma"):
                ran = subprocess.run([tilec, "compile", str(path), f"--entry={kernel}", "--emit=tile",
                                      f"--stop-after={step}"], capture_output=True, timeout=60)
                if ran.returncode == 0 and ran.stdout:
                    yield ran.stdout


def main(arguments):
    target, out, *tilec = arguments if len(arguments) > 1 else ("", "")
    if target not in ("source", "ir") or len(tilec) > (target == "ir"):
        print(__doc__)
        return 2
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    seeds = {hashlib.sha1(seed).hexdigest(): seed
             for seed in (source_seeds() if target == "source" else ir_seeds(*tilec))}
    for name, seed in seeds.items():
        (out / name).write_bytes(seed)
    print(f"{len(seeds)} seeds in {out}")
    return 0 if seeds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
