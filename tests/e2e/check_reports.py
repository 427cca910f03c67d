#!/usr/bin/env python3
"""What kernels say: `assert` and `print`, on the CPU with several numbers of threads, in the interpreter, and in
artifacts; or on a GPU.

    check_reports.py TILEC [--device=cuda [SERVER]]

SERVER is tile_command_server, for many runs in a process. The lines that are expected are computed here, from the inputs and from docs/language.md alone.
"""

import json
import os
import pathlib
import random
import re
import sys
import tempfile

import numpy as np
import tilec_runs

SOURCE = """
kernel guarded(w: i64[V, D], ids: i64[B]) -> (y: i64[B, D]) {
    parallel b in tiles(B) {
        assert(ids[b] >= 0 && ids[b] < V, "an id is outside the table")
        y[b, :] = w.within[ids[b], :]
    }
}

kernel below(x: i32[M, N], most: i32) -> (y: i32[M, N], total: i32[1] reduce +) {
    parallel i in tiles(M), j in tiles(N) {
        assert(x[i, j] <= most)
        y[i, j] = x[i, j]
        total[0] += sum(x[i, j], i, j)
    }
}

kernel shown(x: i32[M, N], n: i64) -> (y: i32[M]) {
    parallel i in tiles(M) {
        print("rows", i, "of", M, "n", n)
        var s = zeros(i32, i)
        for j in tiles(N) if j <= i {
            print(x[i, j])
            s += sum(x[i, j], j)
        }
        print("sums", s, s % 2 == 0)
        y[i] = s
    }
}

kernel products(x: f32[M, K], w: f32[N, K]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        var s = zeros(f32, i)
        for j in tiles(N) if j <= i {
            let p = dot(x[i, :], w[j, :], K)
            print(p)
            s += sum(p, j)
        }
        y[i] = s
    }
}

kernel first(x: i32[M]) -> (y: i32[M]) {
    parallel i in tiles(M) {
        print("first", x[i])
        y[i] = x[i] + 1
    }
}

kernel second(x: i32[M]) -> (y: i32[M]) {
    parallel i in tiles(M) {
        print("second", x[i])
        assert(x[i] < 4, "too much")
        y[i] = x[i] + 1
    }
}

graph twice(x: i32[M]) -> (y: i32[M]) {
    y = second(second(x))
}

graph branches(x: i32[M]) -> (u: i32[M], v: i32[M], w: i32[M]) {
    u = first(first(x))
    v = twice(x)
    w = first(x)
}

graph both(x: i32[M, N]) -> (a: i32[M], b: i32[M]) {
    a = shown(x, 1)
    b = shown(x, 2)
}
"""


class Checker:
    def __init__(self, runs, folder, device):
        self.runs, self.folder, self.device = runs, pathlib.Path(folder), device
        self.source = self.folder / "speaks.tile"
        self.source.write_text(SOURCE)
        self.failures = 0

    def run(self, *arguments, threads=2):
        os.environ["TILE_NUM_THREADS"] = str(threads)
        ran = self.runs.run(arguments, timeout=120)
        return ran.returncode, ran.stdout, ran.stderr

    def expect(self, what, actual, expected):
        if actual != expected:
            self.failures += 1
            print(f"{what}:\n  expected {expected!r}\n  got      {actual!r}")

    def everywhere(self, entry, inputs, sizes):
        """(who, exit code, standard output, standard error) of each way to run it."""
        sets = [word for name, size in sizes.items() for word in ("--set", f"{name}={size}")]
        command = ["--json", *inputs]
        if self.device:
            ran = self.run("run", self.source, "--entry", entry, self.device, *command, *sets)
            if refused := re.search("the GPU backend does not have .* yet", ran[2]):
                print(f"not run: {entry}: {refused[0]}")
            else:
                yield (self.device, *ran)
            return
        for threads in (1, 2, 5):
            yield (f"cpu, {threads} threads", *self.run("run", self.source, "--entry", entry, *command, *sets,
                                                        threads=threads))
        yield ("interp", *self.run("run", self.source, "--entry", entry, "--device=interp", *command, *sets))
        artifact = self.folder / "speaks.tileart"
        code, _, err = self.run("compile", f"{self.source}:{entry}", "--emit=artifact", "-o", artifact, *sets)
        self.expect("compile", code, 0)
        yield ("artifact", *self.run("run", artifact, "--entry", entry, *command))

    def tensor(self, name, array):
        path = self.folder / f"{name}.npy"
        np.save(path, array)
        return ["--in", f"{name}={path}"]

    def failure_of(self, who, err):
        """The message of an error, without its place."""
        lines = [line for line in err.splitlines() if "assertion failed" in line]
        self.expect(f"{who}: one error", len(lines), 1)
        self.expect(f"{who}: its place", "speaks.tile:" in "".join(lines), True)
        return "".join(lines).partition("assertion failed: ")[2]


def blocks(extent, size):
    return [range(lo, min(lo + size, extent)) for lo in range(0, extent, size)]


def check_guard(checker, rng):
    """The first block with a bad id stops before it reads the table there."""
    for _ in range(4):
        rows, count, size = rng.randint(1, 50), rng.randint(1, 400), rng.choice([1, 3, 16, 33])
        table = np.arange(rows * 3).reshape(rows, 3)
        ids = np.array([rng.randrange(rows) for _ in range(count)])
        bad = sorted(rng.sample(range(count), min(count, rng.randint(0, 3))))
        for at in bad:
            ids[at] = rng.choice([-1, rows, 1 << 40, -(1 << 40)])
        inputs = checker.tensor("w", table) + checker.tensor("ids", ids)
        for who, code, out, err in checker.everywhere("guarded", inputs, {"b": size}):
            checker.expect(f"guarded, {who}: exit code", code, 1 if bad else 0)
            if bad:
                first = f"an id is outside the table, at [b = {bad[0]}] (in the program at b = {bad[0] // size * size})"
                checker.expect(f"guarded, {who}", checker.failure_of(who, err), first)
                checker.expect(f"guarded, {who}: the report", json.loads(out)["ok"], False)
            else:
                checker.expect(f"guarded, {who}", err, "")


def check_first(checker, rng):
    """Of the lowest program that fails, the first element in row-major order."""
    for _ in range(4):
        shape, i, j = (rng.randint(1, 40), rng.randint(1, 60)), rng.choice([1, 4, 7]), rng.choice([1, 5, 16])
        x = np.array([[rng.randrange(100) for _ in range(shape[1])] for _ in range(shape[0])], dtype=np.int32)
        most = rng.choice([99, 97, 90, 50])
        expected = None
        for rows in blocks(shape[0], i):
            for columns in blocks(shape[1], j):
                for r in rows:
                    for c in columns:
                        if expected is None and x[r, c] > most:
                            expected = (f"`x[i, j] <= most`, at [i = {r}, j = {c}] "
                                        f"(in the program at i = {rows[0]}, j = {columns[0]})")
        inputs = checker.tensor("x", x) + ["--in", f"most={most}"]
        for who, code, _, err in checker.everywhere("below", inputs, {"i": i, "j": j}):
            checker.expect(f"below, {who}: exit code", code, 1 if expected else 0)
            if expected:
                checker.expect(f"below, {who}", checker.failure_of(who, err), expected)


def few(items):
    return ", ".join(items if len(items) <= 8 else items[:3] + ["…"] + items[-3:])


def span(name, coordinates):
    ends = [str(coordinates[0])] + ["…"] * (len(coordinates) > 2) + [str(coordinates[-1])] * (len(coordinates) > 1)
    return f"{name} = " + ", ".join(ends)


def line_of(name, coordinates, values):
    return f"[{span(name, coordinates)}: {few(values)}]"


def shown_lines(x, n, i, j):
    lines = []
    for rows in blocks(x.shape[0], i):
        lines.append(f"rows {line_of('i', rows, [str(r) for r in rows])} of {x.shape[0]} n {n}")
        for columns in blocks(x.shape[1], j):
            lines.append(f"[{span('i', rows)}, {span('j', columns)}]")
            body = [f"  i = {r}: " + few([str(x[r, c]) if c <= r else "_" for c in columns]) for r in rows]
            lines += body if len(body) <= 8 else body[:3] + ["  …"] + body[-3:]
        sums = [int(sum(x[r, c] for c in range(x.shape[1]) if c <= r)) for r in rows]
        even = [str(s % 2 == 0).lower() for s in sums]
        lines.append(f"sums {line_of('i', rows, list(map(str, sums)))} {line_of('i', rows, even)}")
    return lines


def check_prints(checker, rng):
    """The same lines, in the order of the programs, whoever runs them."""
    for _ in range(4):
        shape, i, j = (rng.randint(0, 30), rng.randint(1, 40)), rng.choice([1, 2, 9, 16]), rng.choice([1, 7, 8, 16])
        x = np.array([[rng.randrange(-50, 50) for _ in range(shape[1])] for _ in range(shape[0])],
                     dtype=np.int32).reshape(shape)
        inputs = checker.tensor("x", x)
        for who, code, out, err in checker.everywhere("shown", inputs + ["--in", "n=-3"], {"i": i, "j": j}):
            checker.expect(f"shown {shape}, {who}: exit code", code, 0)
            checker.expect(f"shown {shape}, {who}", err.splitlines(), shown_lines(x, -3, i, j))
            checker.expect(f"shown {shape}, {who}: the report", json.loads(out)["ok"], True)
        code, out, err = checker.run("run", checker.source, "--entry", "both", *inputs, "--set", f"i={i}", "--set",
                                     f"j={j}", "--check", "--sweep-tiles=3", "--repeat", 2,
                                     *([checker.device] if checker.device else []))
        checker.expect("both", (code, err.splitlines()), (0, shown_lines(x, 1, i, j) + shown_lines(x, 2, i, j)))


def check_products(checker, rng):
    """Elements and what is outside lie in scratch memory in the same order, also where that isn't the tile's."""
    for i, j in ((8, 1), (1, 4), (5, 3)):
        x, w = (np.array([[rng.randint(-4, 4) for _ in range(6)] for _ in range(rng.randint(2, 9))], dtype=np.float32)
                for _ in range(2))
        products = x @ w.T + 0.0  # no −0
        expected = []
        for rows in blocks(len(x), i):
            for columns in blocks(len(w), j):
                lines = [f"[{span('i', rows)}, {span('j', columns)}]"]
                for r in rows:
                    shown = [f"{products[r, c]:g}" if c <= r else "_" for c in columns]
                    lines.append(f"  i = {r}: " + few(shown))
                expected += lines if len(lines) <= 9 else lines[:4] + ["  …"] + lines[-3:]
        inputs = checker.tensor("x", x) + checker.tensor("w", w)
        for who, code, _, err in checker.everywhere("products", inputs, {"i": i, "j": j}):
            checker.expect(f"products, {who}: exit code", code, 0)
            checker.expect(f"products, {who}", err.splitlines(), expected)


def place_of(text):
    """"speaks.tile:line:column" of the first place where the text stands in the source."""
    before = SOURCE[:SOURCE.index(text)]
    return f"speaks.tile:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def check_branches(checker, rng):
    """Lines come in the order of the calls, whichever depend on which; a failed assertion ends them, and has its
    place and those of the calls around it."""
    for _ in range(4):
        count, size = rng.randint(1, 30), rng.choice([2, 5, 16])
        x = np.array([rng.randint(-4, rng.choice([2, 4])) for _ in range(count)], dtype=np.int32)
        lines, failed = [], False
        for name, plus in [("first", 0), ("first", 1), ("second", 0), ("second", 1), ("first", 0)]:
            for rows in blocks(count, size):
                if failed:
                    break
                lines.append(f"{name} {line_of('i', rows, [str(x[r] + plus) for r in rows])}")
                failed = name == "second" and any(x[r] + plus >= 4 for r in rows)
        outer, inner = place_of("twice(x)\n    w"), "second(second(x))" if x.max() < 4 else "second(x))"
        for who, code, _, err in checker.everywhere("branches", checker.tensor("x", x), {"i": size}):
            checker.expect(f"branches, {who}: exit code", code, 1 if failed else 0)
            said = [line for line in err.splitlines() if line.startswith(("first", "second"))]
            checker.expect(f"branches, {who}", said, lines)
            if not failed:
                continue
            lead = [line for line in err.splitlines() if "assertion failed" in line]
            checker.expect(f"branches, {who}: one error", len(lead), 1)
            checker.expect(f"branches, {who}: places before it", "".join(lead).partition("assertion")[0].count(".tile:"), 1)
            checker.expect(f"branches, {who}: its place", place_of('assert(x[i] < 4') in "".join(lead), True)
            notes = [line for line in err.splitlines() if "called here" in line]
            checker.expect(f"branches, {who}: two notes", len(notes), 2)
            for note, place in zip(notes, (place_of(inner), outer)):
                checker.expect(f"branches, {who}: {note} has {place}", place in note and "note: " in note, True)


def main():
    seed = int(os.environ.get("TILE_TEST_SEED", random.randrange(1 << 30)))
    tilec, device, server = (sys.argv[1:] + [None, None])[:3]
    os.environ["TILE_CACHE_DIR"] = ""
    runs = tilec_runs.runs_of(tilec, server)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(runs, folder, device)
        for check in (check_guard, check_first, check_prints, check_products, check_branches):
            check(checker, random.Random(seed))
    runs.close()
    if checker.failures:
        sys.exit(f"{checker.failures} failures with TILE_TEST_SEED={seed}")


if __name__ == "__main__":
    main()
