#!/usr/bin/env python3
"""A kernel that reads where nothing is: found, told, and no harm to what comes after it.

    check_faults.py TILEC SERVER [COMPUTE_SANITIZER]

A run of tilec says which kernel has failed; a process of SERVER (tile_command_server) gives way to another one then; and
memcheck, as sanitize.py calls it, finds the read with its line. What is found here is what other tests on the GPU
rely on when they find nothing.
"""

import pathlib
import sys
import tempfile
import types

E2E = pathlib.Path(__file__).resolve().parents[1] / "e2e"
sys.dont_write_bytecode = True
sys.path[:0] = [str(E2E), str(pathlib.Path(__file__).resolve().parent)]
import sanitize
import tilec_runs

SOURCE = """
kernel trusting(w: f32[V], ids: i64[N]) -> (y: f32[N]) {
    parallel i in tiles(N) {
        y[i] = w.within[ids[i]]
    }
}
"""
INSIDE, OUTSIDE = "full:99:1000:i64", "full:1099511627776:1000:i64"


class Checker:
    def __init__(self, tilec, folder):
        self.tilec, self.source, self.failures = tilec, folder / "trusting.tile", 0
        self.source.write_text(SOURCE)

    def expect(self, what, holds, text):
        if not holds:
            self.failures += 1
            print(f"FAILED {what}\n    " + str(text).strip().replace("\n", "\n    "))

    def run(self, runs, ids):
        ran = runs.run(["run", self.source, "--device", "cuda", "--in", "w=randn:100:f32", "--in", f"ids={ids}"],
                       timeout=100)
        return ran.returncode, ran.stdout + ran.stderr

    def check_runs(self, runs, kind):
        for turn in range(2):
            code, text = self.run(runs, INSIDE)
            self.expect(f"{kind}: a run after {turn} faults", code == 0, text)
            code, text = self.run(runs, OUTSIDE)
            self.expect(f"{kind}: a fault", code == 3 and "kernel 'trusting' has failed" in text, f"{code}: {text}")
        code, text = self.run(runs, INSIDE)
        self.expect(f"{kind}: a run after the faults", code == 0, text)
        runs.close()

    def check_memcheck(self, sanitizer):
        for ids, right in ((INSIDE, "clean"), (OUTSIDE, "failed")):
            case = types.SimpleNamespace(source=self.source, kernel="trusting", sizes=[], dims={},
                                         inputs={"w": "randn:100:f32", "ids": ids})
            kind, text = sanitize.check(sanitizer, "memcheck", self.tilec, case)
            self.expect(f"memcheck, {right}", kind == right, f"{kind}: {text}")
        self.expect("memcheck tells the line", "Invalid __global__ read" in text and "trusting.tile:4" in text, text)


def main():
    tilec, server, *sanitizer = sys.argv[1:]
    tilec = str(pathlib.Path(tilec).resolve())
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(tilec, pathlib.Path(folder))
        checker.check_runs(tilec_runs.runs_of(tilec), "alone")
        checker.check_runs(tilec_runs.runs_of(tilec, server), "in one process")
        if sanitizer:
            checker.check_memcheck(sanitizer[0])
    print(f"faults {'and memcheck' if sanitizer else 'without memcheck'}: {checker.failures} failed")
    return 1 if checker.failures else 0


sys.exit(main())
