#!/usr/bin/env python3
"""Sorts, scans and best places of every type, and casts to narrow floats, on the interpreter and the CPU or the devices named, against NumPy.

    check_types.py TILEC [DEVICE…] [--server PROGRAM]

PROGRAM is tile_command_server, for many runs in a process; on a GPU that saves most of the time.
Whole numbers are exact, also where they wrap; they come from the whole range of their type, its ends among them, and
from a few values, so that many are equal. Long rows of floats have NaN, infinities and zeros of both signs, too. What NumPy
has no type for is made in the kernel, of numbers that are exact.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np
import tilec_runs

INTEGERS = {name: np.dtype(code) for name, code in dict(i8="i1", i16="<i2", i32="<i4", i64="<i8", u8="u1", u16="<u2",
                                                        u32="<u4", u64="<u8").items()}
FLOATS = {"f16": np.dtype("<f2"), "f32": np.dtype("<f4"), "f64": np.dtype("<f8")}
STORED = ["bf16", "f8e4m3", "f8e5m2"]
SHAPES = [(3, 67), (5, 16), (2, 1), (4, 0)]
# Enough that keys are sorted byte by byte, and that the first K are sorted out several times.
LONG = [(2, 1201), (3, 613)]
K = 7

# What NumPy has no type for is read and stored as f32, and made and sorted as what it is.
SORTS = """
kernel sorts_{name}(x: {type}[M, N])
        -> (up: {type}[M, N], down: {type}[M, N], at: i64[M, N], back: i64[M, N],
            v: {type}[M, 7], va: i64[M, 7], w: {type}[M, 7], wa: i64[M, 7]) {{
    parallel i in tiles(M) {{
        let t = {made}
        let r = range(7)
        up[i, :] = {stored}(sort(t, N))
        down[i, :] = {stored}(sort(t, N, descending = true))
        at[i, :] = argsort(t, N)
        back[i, :] = argsort(t, N, descending = true)
        let (most, most_at) = topk(t, r, N)
        v[i, r] = {stored}(most)
        va[i, r] = most_at
        let (least, least_at) = topk(t, r, N, descending = false)
        w[i, r] = {stored}(least)
        wa[i, r] = least_at
    }}
}}
"""
# `near` are those of the first elements of a row, none of the first row's.
BEST = """
kernel best_{name}(x: {type}[M, N])
        -> (most: i64[M], least: i64[M], near: i64[M], last: i64[M]) {{
    parallel i in tiles(M) {{
        let n = whole(N) if n < 3 * i
        let t = {made}
        most[i] = argmax(t, N)
        least[i] = argmin(t, N)
        near[i] = argmax({near}, n)
        last[i] = argmin({near}, n)
    }}
}}
kernel columns_{name}(x: {type}[M, N]) -> (most: i64[N], least: i64[N]) {{
    parallel j in tiles(N) {{
        most[j] = argmax({column}, M)
        least[j] = argmin({column}, M)
    }}
}}
"""
SCANS = """
kernel scans_{name}(x: {type}[M, N])
        -> (sums: {sum}[M, N], back: {sum}[M, N], product: {sum}[M, N], most: {type}[M, N], least: {type}[M, N],
            fold: {sum}[M, N]) {{
    parallel i in tiles(M) {{
        sums[i, :] = cumsum(x[i, :], N)
        back[i, :] = cumsum(x[i, :], N, reverse = true)
        product[i, :] = cumprod(x[i, :], N)
        most[i, :] = cummax(x[i, :], N)
        least[i, :] = cummin(x[i, :], N, reverse = true)
        var h = zeros({sum}, i)
        for k in tiles(N) {{
            let (all, last) = cumsum(x[i, k], k, init = h)
            fold[i, k] = all
            h = last
        }}
    }}
}}
"""

# Back in f32, which holds all their numbers; and the sign, which zeros have, too.
CASTS = """
kernel casts_{name}(x: f32[M, N]) -> (near: f32[M, N], zero: f32[M, N], held: f32[M, N], signs: f32[M, N]) {{
    parallel i in tiles(M), j in tiles(N) {{
        let y = {name}(x[i, j])
        near[i, j] = f32(y)
        zero[i, j] = f32({name}(x[i, j], toward_zero))
        held[i, j] = f32({name}(x[i, j], sat))
        signs[i, j] = where(isnan(f32(y)), 1, copysign(1, f32(y)))
    }}
}}
"""
# Bits of the mantissa, the exponent of 1, and the greatest number; f8e4m3 has no infinity.
FORMATS = {"f16": (10, 15, 65504.0), "bf16": (7, 127, 2.0**128 - 2.0**120), "f8e4m3": (3, 7, 448.0), "f8e5m2": (2, 15, 57344.0)}


def sum_type(name):
    """Small integers add up in 32 bits."""
    return {"i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}.get(name, name)


def with_specials(rng, x):
    """Some numbers become NaN, infinite or zeros of both signs."""
    kinds = rng.integers(0, 40, x.shape)
    for kind, special in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0)):
        x = np.where(kinds == kind, x.dtype.type(special), x)
    return x


def numbers(rng, dtype, shape, few):
    if dtype.kind == "f":
        return rng.integers(-9, 10, shape).astype(dtype) / 8 if few else rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    if few:
        return rng.integers(max(limits.min, -3), 4, shape).astype(dtype)
    x = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    ends = rng.random(shape)
    return np.where(ends < 0.1, dtype.type(limits.min), np.where(ends > 0.9, dtype.type(limits.max), x))


def order(x, descending):
    if not descending:
        return np.argsort(x, axis=1, kind="stable")
    return x.shape[1] - 1 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]


def sorted_by_numpy(x, lowest, highest):
    up, down = order(x, False), order(x, True)
    results = {"up": np.take_along_axis(x, up, 1), "down": np.take_along_axis(x, down, 1), "at": up, "back": down}
    for value, place, at, missing in (("v", "va", down, lowest), ("w", "wa", up, highest)):
        at = at[:, :K]
        results[value] = np.full((len(x), K), missing, dtype=x.dtype)
        results[value][:, :at.shape[1]] = np.take_along_axis(x, at, 1)
        results[place] = np.full((len(x), K), -1)
        results[place][:, :at.shape[1]] = at
    return results


def best_by_numpy(x):
    """NumPy's are the lowest of equal ones, too, and NaN wins."""
    def best(find, lines):
        return np.array([find(line) if len(line) else -1 for line in lines], dtype=np.int64)

    near = [line[:3 * i] for i, line in enumerate(x)]
    rows = {"most": best(np.argmax, x), "least": best(np.argmin, x), "near": best(np.argmax, near),
            "last": best(np.argmin, near)}
    return rows, {"most": best(np.argmax, x.T), "least": best(np.argmin, x.T)}


def scanned_by_numpy(x, dtype):
    wide = x.astype(dtype)
    sums = np.cumsum(wide, axis=1, dtype=dtype)
    return {"sums": sums, "back": np.cumsum(wide[:, ::-1], axis=1, dtype=dtype)[:, ::-1],
            "product": np.cumprod(wide, axis=1, dtype=dtype), "most": np.maximum.accumulate(x, axis=1),
            "least": np.minimum.accumulate(x[:, ::-1], axis=1)[:, ::-1], "fold": sums}


def cast_by_numpy(x, name):
    """In double precision, where steps are powers of two and quotients by them exact."""
    mantissa, bias, greatest = FORMATS[name]
    size = np.abs(x.astype(np.float64))
    exponent = np.maximum(np.frexp(np.where(np.isfinite(size), size, 1))[1] - 1, 1 - bias)
    step = np.exp2(exponent - mantissa)
    infinite = np.nan if name == "f8e4m3" else np.inf
    with np.errstate(invalid="ignore"):
        near, down = np.rint(size / step) * step, np.trunc(size / step) * step

    def signed(y):
        return np.where(np.isnan(x), np.nan, np.copysign(y, x)).astype(np.float32)

    is_infinite = np.isinf(size)
    beyond = np.where(is_infinite | (near > greatest), infinite, near)
    return {"near": signed(beyond), "zero": signed(np.where(is_infinite, infinite, np.minimum(down, greatest))),
            "held": signed(np.minimum(near, greatest)), "signs": np.where(np.isnan(signed(beyond)), 1, np.copysign(1, x)).astype(np.float32)}


class Checker:
    def __init__(self, runs, devices, folder, rng):
        self.runs, self.devices, self.folder, self.rng, self.count = runs, devices, folder, rng, 0
        sorts = [SORTS.format(name=name, type=name, made="x[i, :]", stored=name) for name in {**INTEGERS, **FLOATS}]
        sorts += [SORTS.format(name=name, type="f32", made=f"{name}(x[i, :])", stored="f32") for name in STORED]
        best = [BEST.format(name=name, type=name, made="x[i, :]", near="x[i, n]", column="x[:, j]")
                for name in {**INTEGERS, **FLOATS}]
        best += [BEST.format(name=name, type="f32", made=f"{name}(x[i, :])", near=f"{name}(x[i, n])",
                             column=f"{name}(x[:, j])") for name in STORED]
        scans = [SCANS.format(name=name, type=name, sum=sum_type(name))
                 for name in [*INTEGERS, "f32", "f64"]]
        casts = [CASTS.format(name=name) for name in FORMATS]
        (folder / "all.tile").write_text("".join(sorts + best + scans + casts))

    def check(self, kernel, x, expected, rtol=0.0):
        np.save(self.folder / "x.npy", x)
        for device in self.devices:
            outputs = [argument for name in expected for argument in ("--out", f"{name}={self.folder}/{name}.npy")]
            ran = self.runs.run(["run", f"{self.folder}/all.tile:{kernel}", "--device", device, "--in",
                                 f"x={self.folder}/x.npy", *outputs], timeout=120)
            assert ran.returncode == 0, f"{kernel}: {ran.stderr}"
            for name, right in expected.items():
                got = np.load(self.folder / f"{name}.npy")
                assert got.shape == right.shape, (kernel, name, got.shape, right.shape)
                scale = np.abs(right).max(initial=1) if rtol else 0
                same = np.abs(got - right) <= rtol * scale if rtol else (got == right) | (got != got) & (right != right)
                assert same.all(), f"{kernel} on {device}, {name} of {x.shape}: {got[~same][:5]}, not " \
                                   f"{right[~same][:5]}, of {x[np.argwhere(~same)[0][0]]}"
        self.count += 1

    def check_orders(self, name, x, lowest, highest):
        rows, columns = best_by_numpy(x)
        self.check(f"sorts_{name}", x, sorted_by_numpy(x, lowest, highest))
        self.check(f"best_{name}", x, rows)
        self.check(f"columns_{name}", x, columns)

    def run(self):
        for name, dtype in {**INTEGERS, **FLOATS}.items():
            limits = np.iinfo(dtype) if dtype.kind != "f" else None
            lowest, highest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
            for shape, few in zip(SHAPES, (False, True, False, True)):
                x = numbers(self.rng, dtype, shape, few)
                self.check_orders(name, x, lowest, highest)
                if name != "f16":
                    rtol = {"f32": 1e-5, "f64": 1e-13}.get(name, 0.0)
                    wide = INTEGERS.get(sum_type(name), dtype)
                    self.check(f"scans_{name}", x, scanned_by_numpy(x, wide), rtol)
            for shape, few in zip(LONG, (False, True)):
                x = numbers(self.rng, dtype, shape, few)
                x = x if limits else with_specials(self.rng, x)
                # In order, each is better than all before it, in one direction.
                x[-1] = np.sort(x[-1])
                self.check_orders(name, x, lowest, highest)
                self.check_orders(name, np.full_like(x, lowest), lowest, highest)
        # Numbers that all of them hold. What is missing is infinite, in f32 as all arithmetic on them.
        for name in STORED:
            for shape in SHAPES + LONG:
                x = (self.rng.integers(-7, 8, shape) * 2.0**self.rng.integers(-3, 4, shape)).astype(np.float32)
                x = x if name != "f8e5m2" else np.sign(x) * 2.0**self.rng.integers(-8, 8, shape).astype(np.float32)
                self.check_orders(name, x, -np.inf, np.inf)
        # Numbers of all sizes, those that begin and end a step, and those beside them.
        top = self.rng.integers(0, 1 << 16, 16384, dtype=np.uint32) << 16
        for name, (mantissa, _, _) in FORMATS.items():
            half = np.uint32(1 << (22 - mantissa))
            ties = (top & ~(half - np.uint32(1))) | half
            bits = np.stack([top, top | self.rng.integers(0, 1 << 16, top.shape, dtype=np.uint32), ties, ties + np.uint32(1),
                             ties - np.uint32(1)])
            x = bits.view(np.float32)
            self.check(f"casts_{name}", x, cast_by_numpy(x, name))


def main():
    seed = np.random.SeedSequence().entropy
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("devices", nargs="*", default=["interp", "cpu"])
    parser.add_argument("--server", metavar="PROGRAM")
    options = parser.parse_args()
    devices = options.devices
    runs = tilec_runs.runs_of(options.tilec, options.server)
    with tempfile.TemporaryDirectory() as name:
        checker = Checker(runs, devices, pathlib.Path(name), np.random.default_rng(seed))
        try:
            checker.run()
        except AssertionError:
            print(f"seed {seed}", file=sys.stderr)
            raise
        finally:
            runs.close()
        print(f"{checker.count} kernels and inputs, on {' and '.join(devices)}")


main()
