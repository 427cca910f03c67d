#!/usr/bin/env python3
"""argmax, topk and sorts on one thread of the CPU, beside max, NumPy's argpartition and std::sort, by turns.

    orders.py TILEC [--rounds N] [--row WORD]

Prints a table; a ratio is the peer's time / tilec's time: above 1 tilec is faster. Of each the least of all rounds counts.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

KERNELS = """
kernel best<T: f32 | f64 | i32>(x: T[M, N]) -> (y: i64[M]) { parallel i in tiles(M) { y[i] = argmax(x[i, :], N) } }
kernel most<T: f32 | f64 | i32>(x: T[M, N]) -> (y: T[M]) { parallel i in tiles(M) { y[i] = max(x[i, :], N) } }
kernel best_columns<T: f32 | f64 | i32>(x: T[M, N]) -> (y: i64[N]) { parallel j in tiles(N) { y[j] = argmax(x[:, j], M) } }
kernel most_columns<T: f32 | f64 | i32>(x: T[M, N]) -> (y: T[N]) { parallel j in tiles(N) { y[j] = max(x[:, j], M) } }
kernel sorted<T: f32 | f64>(x: T[M, N]) -> (y: T[M, N]) { parallel i in tiles(M) { y[i, :] = sort(x[i, :], N) } }
kernel places<T: f32 | f64>(x: T[M, N]) -> (y: i64[M, N]) { parallel i in tiles(M) { y[i, :] = argsort(x[i, :], N) } }
kernel first<const K: int>(x: f32[M, N]) -> (v: f32[M, K], at: i64[M, K]) {
    parallel i in tiles(M) {
        let (most, where_most) = topk(x[i, :], K, N)
        v[i, :] = most
        at[i, :] = where_most
    }
}
"""
ROWS = [("100000x8", 32), ("10000x100", 32), ("1000x1000", 32), ("1x1000000", 32), ("10000x100", 64), ("1x1000000", 64)]


class Bench:
    def __init__(self, tilec, folder, rounds, row):
        self.tilec, self.folder, self.rounds, self.row = tilec, folder, rounds, row
        (folder / "orders.tile").write_text(KERNELS)
        source = pathlib.Path(__file__).with_name("StdSort.cpp")
        subprocess.run(["c++", "-O3", "-march=native", "-std=c++20", source, "-o", folder / "stdsort"], check=True)

    def ours(self, kernel, spec, *words):
        said = subprocess.run([self.tilec, "run", f"{self.folder}/orders.tile:{kernel}", "--in", f"x={spec}", "--repeat",
                               "5", *words], capture_output=True, text=True, check=True,
                              env={**os.environ, "TILE_NUM_THREADS": "1"})
        number, unit = re.search(r"best ([0-9.]+) (ms|µs|s)\b", said.stdout + said.stderr).groups()
        return float(number) * {"s": 1e3, "ms": 1, "µs": 1e-3}[unit]

    def peer_sort(self, shape, bits):
        said = subprocess.run([self.folder / "stdsort", *shape.split("x"), str(bits), "2"], capture_output=True,
                              text=True, check=True)
        return [float(number) for number in said.stdout.split()]

    def report(self, name, ours, peer, turn):
        if self.row not in name:
            return
        pairs = [turn() for _ in range(self.rounds)]
        mine, other = (min(times) for times in zip(*pairs))
        print(f"| {name} | {ours} {mine:.3g} ms | {peer} {other:.3g} ms | {other / mine:.2f} |", flush=True)

    def run(self):
        print("| | tilec | peer | ratio |\n|---|---|---|---|")
        for kind in ("f32", "i32", "f64"):
            spec = f"uniform:1000x1000:{kind}:1:-9999:9999"
            for name in ("", "_columns"):
                self.report(f"1000x1000 {kind}{name.replace('_', ' ')}", "argmax", "max",
                            lambda: (self.ours("best" + name, spec), self.ours("most" + name, spec)))
        for shape in ("100000x10", "100000x16", "30000x33", "20000x64", "10000x100"):
            spec = f"randn:{shape}:f32:1"
            self.report(f"{shape} f32", "argmax", "max",
                        lambda: (self.ours("best", spec), self.ours("most", spec)))
        numbers = {"randn": np.random.default_rng(1).standard_normal(1000000).astype(np.float32),
                   "arange": np.arange(1000000, dtype=np.float32)}

        def partition(x, k):
            start = time.perf_counter()
            np.argpartition(x, k)
            return 1e3 * (time.perf_counter() - start)

        for kind, k in (("randn", 5), ("arange", 5), ("randn", 1000), ("randn", 100000), ("randn", 500000)):
            name = f"1x1000000 f32, K = {k}" + (", ascending" if kind == "arange" else "")
            spec = f"{kind}:1x1000000:f32" + (":1" if kind == "randn" else "")
            self.report(name, "topk", "argpartition",
                        lambda: (self.ours("first", spec, "--dim", f"K={k}"), partition(numbers[kind], k)))
        for shape, bits in ROWS:
            spec = f"randn:{shape}:f{bits}:1"
            self.report(f"{shape} f{bits}", "sort", "std::sort",
                        lambda: (self.ours("sorted", spec), self.peer_sort(shape, bits)[0]))
            self.report(f"{shape} f{bits}, places", "argsort", "std::sort",
                        lambda: (self.ours("places", spec), self.peer_sort(shape, bits)[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--row", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Bench(os.path.abspath(options.tilec), pathlib.Path(folder), options.rounds, options.row).run()


main()
