#!/usr/bin/env python3
"""Long sums keep their digits.

    check_sums.py TILEC [SERVER] [--device cpu|cuda|interp] [--kernels NAMES] [--large]

Each kernel of sums.tile adds up 10³ to 10⁷ numbers that are hard to add up one after the other, on the device and, the shorter ones, in the
interpreter. The result is off by at most 4 · (2 + log₂ N) units in the last place of its type, taken at the sum of the terms' magnitudes, as
docs/language.md promises; the exact sum comes from NumPy in double precision. --large adds 10⁸.
"""

import argparse
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402
import tilec_runs  # noqa: E402

SOURCE = pathlib.Path(__file__).parent / "sums.tile"
WIDE = np.longdouble


def tenths(n, random):
    return np.full(n, 0.1)


def positive(n, random):
    return random.random(n)


def far(n, random):
    return 1e4 + random.standard_normal(n)


def rising(n, random):
    return np.exp(np.linspace(-12, 12, n))


def falling(n, random):
    return rising(n, random)[::-1]


def cancelling(n, random):
    return np.where(np.arange(n) % 2, 1, -1) * 1e4 + random.standard_normal(n)


def infinite(n, random):
    x = random.standard_normal(n)
    x[n // 2] = np.inf
    return x


INPUTS = [tenths, positive, far, rising, falling, cancelling, infinite]


# What each kernel's outputs are sums of, along which axis: a list of terms an output.
def rows(x):
    return [("s", x, 1)]


def columns(x):
    return [("s", x, 0)]


def squares(x):
    return [("s", x * x, 1)]


def by_first(x):
    return [("s", x * x[0], 1)]


def nested(x):
    used = x[:, :x.shape[1] // 50 * 50]
    return [("s", np.concatenate([np.ones((len(x), 1), x.dtype), np.where(used > 0, 3 * used, 0)], axis=1), 1)]


KERNELS = {
    "in_full": (rows, "rows"), "average": (rows, "rows"), "down": (columns, "columns"), "squares": (squares, "rows"), "blocks": (rows, "rows"),
    "both": (lambda x: [("s", x.reshape(1, -1), 1)], "square"), "dots_of_blocks": (squares, "rows"),
    "two_of_blocks": (lambda x: [("s", np.concatenate([x, x * x], axis=1), 1), ("d", -x, 1)], "rows"),
    "down_in_blocks": (columns, "columns"), "down_by_rows": (columns, "columns"), "by_first": (by_first, "rows"),
    "together": (rows, "rows"), "one_by_one": (rows, "rows"), "doubles_together": (rows, "rows"), "numbers": (rows, "rows"), "nested": (nested, "rows"),
    "in_steps": (lambda x: [("s", x[:, ::len(x)], 1)], "rows"),
    "few_by_few": (lambda x: [("s", x[:, :x.shape[1] // 16 * 16], 1)], "rows"),
    "doubles": (rows, "rows"), "halves": (rows, "rows"),
}
# Shapes by how many terms there are, of what has long rows, long columns or both.
SHAPES = {"rows": lambda n: [(1, n), (3, n // 3)], "columns": lambda n: [(n, 1), (n // 21, 21)],
          "square": lambda n: [(int(n**0.5), int(n**0.5) + 3), (n // 5, 5), (5, n // 5)]}
# The longest that each device adds up, and the longest of those that are slow by nature.
LONGEST = {"cpu": (10**7 + 13, 10**6 + 7), "cuda": (10**7 + 13, 10**6 + 7), "interp": (10**5 + 9, 10**4 + 3)}
SLOW = {"numbers", "nested", "in_steps", "few_by_few", "both", "one_by_one", "down_by_rows"}


def judge(name, actual, terms, axis, type, average):
    """What is off by too much, and by how many units it was off at worst."""
    terms = terms.astype(WIDE)
    with np.errstate(invalid="ignore"):
        exact, size, count = terms.sum(axis=axis), np.abs(terms).sum(axis=axis), terms.shape[axis]
    bound = 4 * (2 + np.log2(count))
    divisor = count if average else 1
    if not np.isfinite(size).all():
        return "" if np.array_equal(np.isnan(exact), np.isnan(actual)) and np.isinf(actual).any() else f"{name}: {actual} of infinite terms", 0
    unit = np.spacing(size.astype(type)).astype(WIDE) / divisor
    off = np.abs(actual.astype(WIDE) - exact / divisor) / unit
    worst = float(off.max())
    if average:
        worst = max(0, worst - 1)  # of the division
    return (f"{name}: off by {worst:.1f} units, {bound:.1f} are allowed" if not worst <= bound else ""), worst / bound


def check_sums(runs, options, folder):
    problems, worst, count = [], {}, 0
    for name, (terms_of, shapes) in KERNELS.items():
        if options.kernels and name not in options.kernels.split(","):
            continue
        type = np.float64 if name.startswith("doubles") else np.float32
        longest = LONGEST[options.device][name in SLOW]
        for n in [10**3 + 1, 10**4 + 3, 10**5 + 9, 10**6 + 7, 10**7 + 13]:
            if n > longest:
                break
            for number, make in enumerate(INPUTS):
                if n > 2 * 10**5 and number % 3 != count % 3 or make is infinite and name in ("nested", "two_of_blocks"):
                    continue
                shape = SHAPES[shapes](n)[count % len(SHAPES[shapes](n))]
                count += 1
                if name == "halves":  # NumPy has none
                    x = np.full(shape, 1.0078125, np.float32)
                    spec = f"full:1.0078125:{shape[0]}x{shape[1]}:bf16"
                else:
                    x = make(shape[0] * shape[1], np.random.default_rng([count, n])).reshape(shape).astype(type)
                    spec = folder / "x.npy"
                    np.save(spec, x)
                command = ["run", f"{SOURCE}:{name}", "--device", options.device, "--in", f"x={spec}"]
                outputs = {output: folder / f"{output}.npy" for output, _, _ in terms_of(x[:1, :1])}
                for output, path in outputs.items():
                    command += ["--out", f"{output}={path}"]
                if options.device == "cpu" and n <= LONGEST["interp"][1]:
                    command.append("--check")  # a wrong tolerance is an exit code, too
                ran = runs.run(command, folder)
                what = f"{name} {shape[0]}x{shape[1]} {make.__name__}"
                if ran.returncode != 0:
                    problems.append(f"{what}: exit code {ran.returncode}\n{ran.stderr}")
                    continue
                for output, terms, axis in terms_of(x):
                    problem, share = judge(output, np.load(outputs[output]), terms, axis, type, name == "average")
                    worst[name] = max(worst.get(name, 0), share)
                    if problem:
                        problems.append(f"{what}: {problem}")
    return problems, worst, count


def check_large(runs, options, folder):
    """Of 10⁸ equal numbers the sum is known without adding them up."""
    problems, n, tenth = [], 10**8, WIDE(np.float32(0.1))
    for name, exact in {"average": tenth, "squares": n * tenth * tenth, "blocks": n * tenth, "doubles": n * WIDE(0.1)}.items():
        out = folder / "s.npy"
        type = "f64" if name == "doubles" else "f32"
        shape = f"1x{n}"
        ran = runs.run(["run", f"{SOURCE}:{name}", "--device", options.device, "--in", f"x=full:0.1:{shape}:{type}", "--out", f"s={out}"], folder)
        if ran.returncode != 0:
            problems.append(f"{name} of {n}: exit code {ran.returncode}\n{ran.stderr}")
            continue
        unit = np.spacing(np.array(exact).astype(np.load(out).dtype)).astype(WIDE)
        off = float(np.abs(np.load(out)[0].astype(WIDE) - exact) / unit)
        if off > 4 * (2 + np.log2(n)):
            problems.append(f"{name} of {n}: off by {off:.1f} units")
    return problems


def check_variance(runs, options, folder):
    """Two passes: a large mean takes no digits from the variance, nor does --check ask for more."""
    problems = []
    for kernel, spec in ("average", "full:0.1:1x1000000:f32"), ("variance", "uniform:1x200000:f32:3:1000:1001"):
        ran = runs.run(["run", f"{SOURCE}:{kernel}", "--device", options.device, "--in", f"x={spec}", "--check"], folder)
        if ran.returncode != 0:
            problems.append(f"{kernel} of {spec} with --check: exit code {ran.returncode}\n{ran.stderr}")
    for n in [1000, 100_003] + [2_000_000] * (options.device != "interp"):
        x = (1e4 + np.random.default_rng(n).standard_normal((2, n))).astype(np.float32)
        np.save(folder / "x.npy", x)
        ran = runs.run(["run", f"{SOURCE}:variance", "--device", options.device, "--in", f"x={folder / 'x.npy'}", "--out", f"s={folder / 's.npy'}"], folder)
        actual = np.load(folder / "s.npy") if ran.returncode == 0 else np.full(2, np.nan)
        expected = x.astype(np.float64).var(axis=1)
        if not np.allclose(actual, expected, rtol=1e-5):
            problems.append(f"variance of {n} with an offset of 10000: {actual}, expected {expected}\n{ran.stderr}")
        ran = runs.run(["run", f"{SOURCE}:normalized", "--device", options.device, "--in", f"x={folder / 'x.npy'}", "--out", f"y={folder / 'y.npy'}"], folder)
        actual = np.load(folder / "y.npy") if ran.returncode == 0 else np.full(2, np.nan)
        expected = (x - x.mean(axis=1, dtype=np.float64)[:, None]) / np.sqrt(expected)[:, None]
        if not np.allclose(actual, expected, rtol=1e-4, atol=2e-3):
            problems.append(f"layer norm of {n} with an offset of 10000: off by up to {np.abs(actual - expected).max()}\n{ran.stderr}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("server", nargs="?")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda", "interp"])
    parser.add_argument("--kernels", default="", help="names, with commas between them")
    parser.add_argument("--large", action="store_true", help="10⁸ numbers, too")
    options = parser.parse_args()
    runs = tilec_runs.runs_of(options.tilec, options.server, options.device)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        problems, worst, count = check_sums(runs, options, folder)
        if not options.kernels:
            problems += check_variance(runs, options, folder)
        if options.large:
            problems += check_large(runs, options, folder)
        runs.close()
    for problem in problems:
        print("FAILED", problem)
    print("largest error ÷ bound: " + ", ".join(f"{name} {share:.2f}" for name, share in worst.items()))
    print(f"{count} sums on {options.device}, {len(problems)} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
