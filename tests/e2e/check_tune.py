#!/usr/bin/env python3
"""tilec tune: what it writes, that a search goes on, and that runs take what it found.

    check_tune.py TILEC [--device cpu|cuda]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# The sums of blocks are added one after the other: their size shows in the last bits.
SOURCE = """
kernel total(x: f32[M, N]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        var acc = zeros(f32, i)
        for j in tiles(N) { acc += sum(x[i, j], j) }
        y[i] = acc
    }
}
"""
SHAPE = {"M": 37, "N": 4099}
INPUT = ["--in", "x=randn:37x4099:f32:7"]


class Check:
    def __init__(self, tilec, device, folder):
        self.tilec, self.device, self.folder, self.failures = tilec, device, folder, []
        (folder / "k.tile").write_text(SOURCE)

    def tilec_says(self, *words, code=0):
        ran = subprocess.run([self.tilec, *words, f"--device={self.device}"], cwd=self.folder, capture_output=True,
                             text=True, timeout=600)
        if ran.returncode != code:
            raise SystemExit(f"FAILED: exit code {ran.returncode} of {words}\n{ran.stdout}{ran.stderr}")
        return ran

    def tune(self, *words):
        dims = [word for name, value in SHAPE.items() for word in ("--dim", f"{name}={value}")]
        return json.loads(self.tilec_says("tune", "k.tile", *dims, *words, "--json").stdout)

    def expect(self, title, holds, shown=""):
        if not holds:
            self.failures.append(f"{title} {shown}")

    def checksum(self, *words):
        text = self.tilec_says("run", "k.tile", *INPUT, *words).stdout
        return text.split("checksum ")[1].split()[0]

    def kept(self):
        return json.loads((self.folder / "k.tuned.json").read_text())

    def run(self):
        usual = self.checksum()
        found = self.tune("--candidates", "12")
        self.expect("all is well", found["ok"] and found["is_finished"] and found["dims"] == SHAPE, found)
        self.expect("nothing is slower than the usual schedule",
                    0 < found["best"]["seconds"] <= found["usual"]["seconds"], found)
        entry, = self.kept()["schedules"]
        self.expect("the file has it", entry["best"]["schedule"] == found["best"]["schedule"] and "tried" not in entry)
        before = self.kept()
        self.tune("--candidates", "5")
        self.expect("what is tuned is not measured again", self.kept() == before)
        # A schedule that nobody would choose, in its place.
        odd = {"i": 3, "j": 7}
        entry["best"]["schedule"] = odd
        (self.folder / "k.tuned.json").write_text(json.dumps({"tuned": 1, "schedules": [entry]}))
        given = self.checksum(*[word for name, size in odd.items() for word in ("--set", f"{name}={size}")])
        self.expect("the sums show the schedule", given != usual)
        self.expect("a run takes it", self.checksum() == given)
        self.expect("what is given comes first", self.checksum("--set", "j=64", "--set", "i=1") != given)
        self.tilec_says("bench", "k.tile", *INPUT, "--runs", "2")
        # Measured anew; another shape beside it.
        again = self.tune("--again", "--candidates", "4")
        self.expect("--again replaces it", len(self.kept()["schedules"]) == 1 and again["candidates"] == 4)
        SHAPE["M"] = 5
        self.tune("--candidates", "3")
        self.expect("each shape has an entry", len(self.kept()["schedules"]) == 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tilec", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options.tilec.resolve(), options.device, pathlib.Path(folder))
        check.run()
    for failure in check.failures:
        print("FAILED:", failure)
    print(f"tilec tune on {options.device}: {len(check.failures)} failed")
    return 1 if check.failures else 0


sys.exit(main())
