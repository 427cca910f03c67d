#!/usr/bin/env python3
"""Compares what tilec says about wrong programs and calls with what it is known to say.

    run_errors.py TILEC [NAME...] [--update]

NAME.tile is given to `tilec check`; NAME.cmd is a shell script that runs in an empty folder, with
tilec on its path and the sources of kernels/ in $KERNELS. NAME.expected holds standard output and
standard error together, and the exit code. --update writes the .expected files anew: read the
difference before you commit it.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# What differs from run to run.
VOLATILE = [(re.compile(r"^time: .*$", re.M), "time: …"),
            (re.compile(r"\b[\d.]+ [KMGT]iB of memory are available"), "… of memory are available"),
            (re.compile(r"tilec-crash-\d+"), "tilec-crash-…")]


def run(test, tilec):
    """The text that NAME.expected ought to hold."""
    # NVIDIA's toolkit, which not every machine has, would tell of spills.
    folders = [folder for folder in os.environ["PATH"].split(":") if not pathlib.Path(folder, "ptxas").exists()]
    environment = {"PATH": ":".join([str(tilec.parent), *folders]), "KERNELS": str(HERE / "kernels"),
                   "CUDA_HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TILE_NUM_THREADS": "2"}
    with tempfile.TemporaryDirectory() as folder:
        if test.suffix == ".tile":
            command, cwd = [str(tilec), "check", test.name], HERE
        else:
            command, cwd = ["bash", "-c", test.read_text()], folder
        result = subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, timeout=120,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = result.stdout.decode("utf-8", "backslashreplace").replace(str(HERE) + "/", "").replace(folder, "$PWD")
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    if text and not text.endswith("\n"):
        text += "\n"
    return f"{text}exit code: {result.returncode}\n"


def judge(test, text, update):
    """What is wrong with the text; empty if nothing is."""
    golden = test.with_suffix(".expected")
    if update:
        golden.write_text(text)
        return ""
    if not golden.exists():
        return f"{golden.name} does not exist; --update writes it\n"
    expected = golden.read_text()
    lines = difflib.unified_diff(expected.splitlines(True), text.splitlines(True), golden.name, "tilec")
    return "" if text == expected else "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="tests by name; all by default")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    tests = sorted([*HERE.glob("*.tile"), *HERE.glob("*.cmd")])
    if options.names:
        tests = [test for test in tests if test.stem in options.names]
    tilec = options.tilec.resolve()
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, text in zip(tests, pool.map(lambda test: run(test, tilec), tests)):
            if problem := judge(test, text, options.update):
                failures += 1
                print(f"FAILED {test.name}\n{problem}")
    print(f"{len(tests)} tests, {failures} failed")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
