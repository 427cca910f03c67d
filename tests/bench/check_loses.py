#!/usr/bin/env python3
"""fusion_loses.py without a clock: its statistics, the sizes that it makes, and what it makes of times that are planted.

    check_loses.py

tilec is replaced by a few lines that know two graphs. Intervals are compared with what is counted here.
"""

import contextlib
import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fusion_loses  # noqa: E402
import fusion_sizes  # noqa: E402
import fusion_verdict  # noqa: E402


def report_of(inputs, between, dims, is_same=False):
    """As tilec fuse --explain=json has it."""
    calls = [{"callee": "first"}, {"callee": "second"}]
    kernels = [{"calls": [0]}, {"calls": [1]}] if is_same else [{"calls": [0, 1]}]
    cost = {"seconds": 2e-5, "bytes_read": 1e6, "bytes_written": 1e6, "operations": 1e6}
    return {"inputs": inputs, "calls": calls, "kernels": kernels, "before": cost, "after": cost | {"seconds": 1e-5},
            "tensors": [*({"name": entry["name"], "type": entry["type"]} for entry in inputs if "[" in entry["type"]), *between],
            "dims": [f"{name} = {value}" for name, value in dims.items()], "assumed_dims": [],
            "assumed_extent": fusion_sizes.USUAL}


def tensor(name, type):
    return {"name": name, "type": type, "optional": False}


ROWS = [tensor("x", "f32[M, N]"), tensor("b", "f32[N]"), {"name": "s", "type": "f32", "optional": False},
        {"name": "t", "type": "f32", "optional": True}]
HEADS = [tensor("q", "bf16[S, H, D]"), tensor("k", "bf16[S, G, D]"), tensor("ids", "i32[S]"), tensor("table", "f32[V, D / 2]")]


def plan_rows(dims):
    return report_of(ROWS, [tensor("y", "f32[M, N]")], {"M": 4096, "N": 4096} | (dims or {}))


def plan_heads(dims):
    """Heads in groups, and a width that is a multiple of 16; C is a constant."""
    given = {"S": 4096, "H": 4096, "G": 4096, "D": 4096, "V": 4096, "C": 3} | (dims or {})
    if dims and (given["G"] == 0 or given["H"] % given["G"] or given["H"] // given["G"] != 4 or given["D"] % 16 or given["C"] != 3):
        return "error: a condition"
    return report_of(HEADS, [tensor("y", "bf16[S + C - 1, H, D]")], given)


EXAMPLE = {"in": {"q": "randn:7x8x16:bf16:1", "k": "randn:7x2x16:bf16:2", "ids": "uniform:7:i32:3:-1:50",
                  "table": "randn:50x8:f32"}, "dim": {"C": 3}}


class Statistics(unittest.TestCase):
    def test_the_interval_of_a_median(self):
        for count in range(6, 90):
            low, high = fusion_verdict.ranks(count)
            # Of all coin throws, those with which the median is between the two.
            chance = sum(math.comb(count, heads) for heads in range(low + 1, high + 1)) / 2 ** count
            narrower = sum(math.comb(count, heads) for heads in range(low + 2, high)) / 2 ** count
            self.assertGreaterEqual(chance, 0.95, count)
            self.assertLess(narrower, 0.95, count)
        self.assertEqual(fusion_verdict.ranks(15), (3, 11))
        self.assertEqual(fusion_verdict.ranks(60), (21, 38))

    def test_medians_of_rounds(self):
        self.assertEqual(fusion_verdict.medians([1, 9, 2, 5, 4, 3, 7], 2), [2, 4])

    def times(self, seconds, ratio, spread, count, seed):
        """By turns on a machine that others use, too: what both see in a round is alike."""
        chance = random.Random(seed)
        machine = [1 + 0.5 * chance.random() for _ in range(count)]
        def taken(usual):
            return [usual * m * (1 + spread * chance.gauss(0, 1)) for m in machine]
        return taken(seconds), taken(seconds * ratio)

    def word(self, seconds, ratio, spread, count, device="cuda", seed=0):
        return fusion_verdict.judge(*self.times(seconds, ratio, spread, count, seed), device).word

    def test_verdicts(self):
        for seed in range(20):
            self.assertEqual(self.word(1e-4, 1.0, 0.01, 60, seed=seed), "passed")
            self.assertEqual(self.word(1e-4, 0.5, 0.01, 15, seed=seed), "passed")
            self.assertEqual(self.word(1e-4, 1.1, 0.01, 15, seed=seed), "LOST")
            self.assertEqual(self.word(1e-4, 2.0, 0.2, 60, seed=seed), "LOST")
            # Slower by half, but by less than a microsecond on a GPU, or five on a CPU.
            self.assertEqual(self.word(1e-6, 1.5, 0.01, 60, seed=seed), "passed")
            self.assertEqual(self.word(6e-6, 1.5, 0.01, 60, "cpu", seed=seed), "passed")
            self.assertEqual(self.word(6e-6, 1.5, 0.01, 60, "cuda", seed=seed), "LOST")
            # Too few rounds say nothing.
            self.assertEqual(self.word(1e-4, 0.5, 0.01, 14, seed=seed), "open")
        # A spread that hides 3 %: more rounds, and then it isn't decided. One that can't hide a loss decides.
        def spread(middle, count):
            ratios = [middle + 0.4 * (n / (count - 1) - 0.5) for n in range(count)]
            random.Random(0).shuffle(ratios)
            return fusion_verdict.judge([1e-4] * count, [1e-4 * ratio for ratio in ratios], "cuda").word

        self.assertEqual([spread(1.0, 15), spread(1.0, 60)], ["open", "UNDECIDED"])
        self.assertEqual([spread(0.8, 15), spread(0.8, 60)], ["passed", "passed"])
        self.assertEqual([spread(1.05, 60), spread(1.3, 60)], ["UNDECIDED", "LOST"])
        # Many times of a short graph make sixty quiet rounds.
        self.assertEqual(self.word(1e-4, 1.0, 0.05, 1000), "passed")
        self.assertEqual(fusion_verdict.judge(*self.times(1e-4, 1, 0.05, 1000, 0), "cuda").rounds, 60)


class Sizes(unittest.TestCase):
    def test_extents(self):
        dims = {"M": 5, "N": 64}
        for text, value in (("7", 7), ("2 * M + N - 2", 72), ("N / 32", 2), ("(M + 1) / 4", 1), ("M % 3", 2), ("M - 9", 0)):
            self.assertEqual(fusion_sizes.extent_of(text, dims), value)
        self.assertEqual(fusion_sizes.Tensor.of("y", "bf16[M, N / 2]").bytes(dims), 2 * 5 * 32)
        self.assertEqual(fusion_sizes.Tensor.of("y", "f64[]").bytes(dims), 8)

    def test_examples(self):
        report = plan_heads(None)
        empty = {"in": {name: spec.replace("7", "0", 1) for name, spec in EXAMPLE["in"].items()}}
        smaller = {"in": EXAMPLE["in"] | {"table": "randn:50x1:f32"}}
        self.assertIs(fusion_sizes.best_example(report, [empty, smaller, EXAMPLE]), EXAMPLE)
        self.assertIsNone(fusion_sizes.best_example(report, [empty, {"in": {"q": "x.npy"}}]))
        shape = fusion_sizes.Shape(report, EXAMPLE)
        self.assertEqual(shape.base, {"S": 7, "H": 8, "G": 2, "D": 16, "V": 50, "C": 3})
        self.assertEqual(shape.fixed, {"C": 3})

    def test_groups(self):
        shape = fusion_sizes.Shape(plan_rows(None))
        self.assertEqual(fusion_sizes.groups_of(shape, plan_rows), [["M"], ["N"]])
        shape = fusion_sizes.Shape(plan_heads(None), EXAMPLE)
        self.assertEqual(fusion_sizes.groups_of(shape, plan_heads), [["S"], ["H", "G"], ["D"], ["V"]])
        refused = fusion_sizes.Shape(plan_rows(None))
        self.assertIsNone(fusion_sizes.groups_of(refused, lambda dims: "error: never"))

    def sizes(self, shape, plan, limits, seconds=lambda report: 0):
        groups = fusion_sizes.groups_of(shape, plan)
        return {kind: dims for kind, dims, *_ in fusion_sizes.sizes_of(shape, groups, plan, limits, seconds)}

    def test_sizes_of_rows(self):
        for limits in (fusion_sizes.CPU, fusion_sizes.GPU):
            shape = fusion_sizes.Shape(plan_rows(None))
            sizes = self.sizes(shape, plan_rows, limits)
            for kind, target in (("small", limits.small), ("square", limits.middle), ("large", limits.large),
                                 ("M = 1", 4 * limits.middle), ("N = 1", 4 * limits.middle)):
                self.assertTrue(target / 2.1 < shape.bytes(sizes[kind]) <= target, (kind, sizes[kind]))
            self.assertIn(sizes["square"]["M"] / sizes["square"]["N"], (1, 2))
            self.assertEqual((sizes["M = 1"]["M"], sizes["N = 1"]["N"]), (1, 1))
            self.assertEqual((sizes["long M"]["N"], sizes["long N"]["M"]), (4, 4))
            self.assertTrue(sizes["odd"]["M"] % 2 and sizes["odd"]["N"] % 2)
            self.assertEqual(len(sizes), len({tuple(dims.items()) for dims in sizes.values()}))

    def test_conditions_are_kept(self):
        shape = fusion_sizes.Shape(plan_heads(None), EXAMPLE)
        sizes = self.sizes(shape, plan_heads, fusion_sizes.CPU)
        self.assertLessEqual({"small", "square", "large", "S = 1", "long H, G", "last two"}, set(sizes))
        for kind, dims in sizes.items():
            self.assertNotIsInstance(plan_heads(dims), str, (kind, dims))
            self.assertLessEqual(shape.bytes(dims), fusion_sizes.CPU.most)

    def test_what_takes_long_becomes_smaller(self):
        shape = fusion_sizes.Shape(plan_rows(None))

        def plan(dims):
            return plan_rows(dims) | {"seconds": math.prod(dims.values()) / 1e6}

        limits = fusion_sizes.CPU
        sizes = self.sizes(shape, plan, limits, lambda report: report["seconds"])
        self.assertTrue(all(math.prod(dims.values()) <= 1e6 * limits.seconds for dims in sizes.values()), sizes)
        self.assertIn("square", sizes)

    def test_smaller_sizes(self):
        shape = fusion_sizes.Shape(plan_rows(None))
        groups = fusion_sizes.groups_of(shape, plan_rows)
        sizes = {size[0]: size for size in fusion_sizes.sizes_of(shape, groups, plan_rows, fusion_sizes.CPU, lambda report: 0)}
        bytes_of = []
        size = sizes["large"]
        while size:
            bytes_of.append(shape.bytes(size[1]))
            size = size[3]()
        self.assertEqual(len(bytes_of), len(fusion_sizes.SHARES))
        self.assertTrue(all(3 < larger / smaller < 5 for larger, smaller in zip(bytes_of, bytes_of[1:])), bytes_of)

    def test_usual_dims(self):
        shape = fusion_sizes.Shape(plan_rows(None), None, {"M": 65536, "N": 8192, "gone": 3})
        self.assertEqual(self.sizes(shape, plan_rows, fusion_sizes.GPU)["usual"], {"M": 16384, "N": 8192})

    def test_inputs(self):
        dims = {"S": 32, "H": 16, "G": 4, "D": 64, "V": 1000, "C": 3}
        shape = fusion_sizes.Shape(plan_heads(None), EXAMPLE)
        self.assertEqual(shape.words(dims), [
            "--in", "q=randn:32x16x64:bf16:1", "--in", "k=randn:32x4x64:bf16:2", "--in", "ids=uniform:32:i32:3:-1:1000",
            "--in", "table=randn:1000x32:f32", "--dim", "C=3"])
        self.assertEqual(fusion_sizes.Shape(plan_rows(None)).words({"M": 2, "N": 3}),
                         ["--in", "x=uniform:2x3:f32", "--in", "b=uniform:3:f32", "--in", "s=1"])

    def test_indices_of_unknown_bounds_are_for_larger_dims_alone(self):
        example = {"in": EXAMPLE["in"] | {"ids": "uniform:7:i32:3:0:45"}, "dim": {"C": 3}}
        shape = fusion_sizes.Shape(plan_heads(None), example)
        sizes = self.sizes(shape, plan_heads, fusion_sizes.CPU)
        self.assertTrue(sizes and all(dims[name] >= shape.base[name] for dims in sizes.values() for name in dims), sizes)
        self.assertFalse(fusion_sizes.Shape(plan_heads(None), EXAMPLE).has_unknown_bounds())


class Runs:
    """In the place of tilec: `plans` by graph, and what the n-th process measures, by graph: the ratio, or that and a spread."""
    processes = 0
    takes = staticmethod(lambda words: True)

    def __init__(self, plans, ratios, memory, seconds):
        self.plans, self.ratios, self.memory, self.seconds = plans, ratios, memory, seconds
        self.number = Runs.processes
        Runs.processes += 1

    def close(self):
        pass

    def run(self, words, timeout=None):
        graph = words[1].split(":")[-1]
        if words[0] == "fuse":
            dims = {pair.split("=")[0]: int(pair.split("=")[1]) for word, pair in zip(words, words[1:]) if word == "--dim"}
            report = self.plans[graph](dims or None)
            return self.ended(report if isinstance(report, str) else json.dumps(report), isinstance(report, str))
        if "--no-run" in words:
            return self.ended("{}")
        if "--device=h200" in words and not self.takes(words):
            return self.ended("error: its kernels require other dims", True)
        ratio = self.ratios[graph](self.number)
        ratio, spread = ratio if isinstance(ratio, tuple) else (ratio, 0)
        modes = next(word for word in words if word.startswith("--fuse=")).split("=")[1].split(",")
        if ratio is None and "exact" in modes:
            return self.ended("error: no room", True)
        seconds = self.seconds.get(graph, lambda words: 1e-4)(words)
        count = int(next((word.split("=")[1] for word in words if word.startswith("--runs=")), 15))
        chance = random.Random(1)
        times = {"off": [seconds * (1 + 1e-3 * chance.random()) for _ in range(count)]}
        times["exact"] = [(ratio or 1) * (1 + spread * (chance.random() - 0.5)) * t for t in times["off"]]
        memory = dict(zip(("off", "exact"), self.memory.get(graph, (4096, 0))))
        return self.ended(json.dumps({"device": "Made up", "caches": "warm", "kernels": [
            {"launches": 1, "seconds": 1e-4, "timing": {"by_round": times[mode]}, "memory": {"intermediate_bytes": memory[mode]}}
            for mode in modes]}))

    def ended(self, text, failed=False):
        return subprocess.CompletedProcess([], int(failed), "" if failed else text, text if failed else "")


class Whole(unittest.TestCase):
    def run_it(self, ratios, *words, memory=None, plans=None, seconds=None):
        """The exit code, what is printed last, and the file."""
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            graphs = "\n".join(f"graph {name}(x: f32[M, N]) -> (y: f32[M, N]) {{ }}" for name in ratios)
            (place / "g.tile").write_text("// graph none(…)\n" + graphs)
            Runs.processes = 0
            plans = dict.fromkeys(ratios, plan_rows) | (plans or {})
            printed = io.StringIO()
            with mock.patch.object(fusion_loses, "PLACES", [place]), \
                    mock.patch.object(fusion_loses.tilec_runs, "runs_of", lambda *_: Runs(plans, ratios, memory or {}, seconds or {})), \
                    mock.patch.object(sys, "argv", ["fusion_loses.py", "tilec", "--jobs=2", f"--out={place / 'out.json'}", *words]), \
                    contextlib.redirect_stdout(printed):
                code = fusion_loses.main()
            return code, printed.getvalue().splitlines(), json.loads((place / "out.json").read_text())

    def test_all_is_well(self):
        code, lines, kept = self.run_it({"even": lambda n: 1.0, "faster": lambda n: 0.4})
        self.assertEqual((code, kept["passed"], kept["card"]), (0, True, "Made up"))
        self.assertTrue(all(row["verdict"] == "passed" and row["rounds"] >= 15 for row in kept["rows"]))
        self.assertIn("0 failed", lines[-1])

    def test_a_loss(self):
        code, lines, kept = self.run_it({"even": lambda n: 1.0, "slower": lambda n: 1.2})
        lost = [row for row in kept["rows"] if row["verdict"] == "LOST"]
        self.assertEqual((code, kept["passed"]), (1, False))
        self.assertEqual(lost, [row for row in kept["rows"] if row["graph"].endswith("slower")])
        self.assertTrue(any("LOST" in line and "1.200" in line for line in lines))

    def test_a_loss_that_another_process_does_not_see(self):
        # The first two processes are those that plan and measure.
        code, _, kept = self.run_it({"unsteady": lambda n: 1.2 if n < 2 else 1.0})
        self.assertEqual(code, 0)
        self.assertTrue(all(abs(row["first_ratio"] - 1.2) < 1e-9 and row["ratio"] < 1.01 for row in kept["rows"]))

    def test_what_only_another_process_decides(self):
        code, _, kept = self.run_it({"unsteady": lambda n: (1.03, 0.6 if n < 2 else 0)})
        self.assertEqual((code, {row["verdict"] for row in kept["rows"]}), (0, {"passed"}))
        code, _, kept = self.run_it({"unsteady": lambda n: (1.03, 1.5)})
        self.assertEqual((code, {row["verdict"] for row in kept["rows"]}), (1, {"UNDECIDED"}))

    def test_memory_that_grows(self):
        code, lines, _ = self.run_it({"even": lambda n: 1.0}, memory={"even": (64, 128)})
        self.assertEqual(code, 1)
        self.assertTrue(any("MEMORY" in line for line in lines))

    def test_what_takes_longer_than_was_guessed_becomes_smaller(self):
        def seconds(words):
            rows, columns = (int(n) for word in words if word.startswith("x=") for n in word.split(":")[1].split("x"))
            return rows * columns * 1e-7

        kept = self.run_it({"slow": lambda n: 1.0}, seconds={"slow": seconds})[2]
        self.assertTrue(kept["rows"] and all(row["apart_seconds"] < 0.11 for row in kept["rows"]), kept)

    def test_what_runs_apart_alone(self):
        code, lines, _ = self.run_it({"large": lambda n: None})
        self.assertEqual(code, 1)
        self.assertTrue(any("FAILS" in line and "no room" in line for line in lines))

    def test_what_only_a_run_refuses_is_no_size(self):
        def takes(words):
            """Two columns at least, which tilec fuse doesn't know."""
            return not any(word.startswith("b=") and ":1:" in word for word in words)

        with mock.patch.object(Runs, "takes", staticmethod(takes)):
            code, _, kept = self.run_it({"even": lambda n: 1.0})
        self.assertEqual(code, 0)
        self.assertTrue(kept["rows"] and all(row["dims"]["N"] > 1 for row in kept["rows"]))

    def test_the_same_plan_is_counted(self):
        def same(dims):
            return plan_rows(dims) | {"kernels": [{"calls": [0]}, {"calls": [1]}]}

        code, lines, kept = self.run_it({"apart": lambda n: 9.0}, plans={"apart": same})
        self.assertEqual((code, kept["rows"]), (0, []))
        self.assertGreater(kept["same_plan"], 4)

    def test_a_sample_has_not_passed(self):
        words = "--sample=4", "--seed=7"
        code, lines, kept = self.run_it({"even": lambda n: 1.0, "more": lambda n: 1.0}, *words)
        again = self.run_it({"even": lambda n: 1.0, "more": lambda n: 1.0}, *words)[2]
        other = self.run_it({"even": lambda n: 1.0, "more": lambda n: 1.0}, "--sample=4", "--seed=8")[2]
        self.assertEqual((code, kept["passed"], len(kept["rows"])), (77, False, 4))
        self.assertIn("not all was measured", lines[-1])
        dims = [[row["dims"] for row in run["rows"]] for run in (kept, again, other)]
        self.assertEqual(dims[0], dims[1])
        self.assertNotEqual(dims[0], dims[2])
        self.assertEqual(self.run_it({"slower": lambda n: 1.2}, "--sample=2")[0], 1)

    def test_errors_of_the_model(self):
        lines = self.run_it({"even": lambda n: 1.0}, "--errors")[1]
        self.assertTrue(any(line.endswith("0.500") and "20.0 µs" in line and "10.0 µs" in line for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
