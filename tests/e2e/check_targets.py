#!/usr/bin/env python3
"""Artifacts of everything elementwise, for processors that lack this and that.

    check_targets.py TILEC

What a processor has no instruction for, LLVM likes to call from a library, and an image may call only what stands in
runtime/artifact/Library.def: the linker refuses it otherwise. So each function of the table in docs/language.md, each
operator, cast, reduction and scan is compiled for each type it takes and for each level of x86-64, and linked. What
this processor can run computes what the interpreter does.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
HALVES = ["f16", "bf16"]
FLOATS = HALVES + ["f32", "f64"]
STORED = ["f8e4m3", "f8e5m2"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
BITS = {1: ["i8", "u8", "f8e4m3", "f8e5m2"], 2: ["i16", "u16", "f16", "bf16"], 4: ["i32", "u32", "f32"],
        8: ["i64", "u64", "f64"]}
ARITY = {name: 2 for name in "copysign expdiff fmax fmin max min pow cdiv tdiv trem mulhi".split()}
ARITY.update(clamp=3, fma=3)
GROUPS = {"float": FLOATS, "float, two or three": FLOATS, "all numbers": FLOATS + INTEGERS, "integers": INTEGERS}
ELSEWHERE = {"bits", "choice", "creation", "constants"}


def functions():
    """(name, types) for the rows of the table of functions."""
    text = (ROOT / "docs" / "language.md").read_text()
    table = text[text.index("| group | functions |"):].split("\n\n")[0].splitlines()[2:]
    rows = dict([cell.strip() for cell in row.strip("|").split("|", 1)] for row in table)
    assert set(rows) == set(GROUPS) | ELSEWHERE, f"groups of functions that this test does not know: {list(rows)}"
    for group, types in GROUPS.items():
        for quoted in re.findall(r"`([^`]*)`", rows[group]):
            for name in re.sub(r"\(.*?\)", "", quoted).split():
                yield name, types


def elementwise():
    """Expressions in x, z and w of type T, the types T, and the type of the result."""
    found = list(functions())
    assert len(found) > 35, found
    for name, types in found:
        yield name, f"{name}({', '.join(['x[i]', 'z[i]', 'w[i]'][:ARITY.get(name, 1)])})", types
    for name, sign in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items():
        yield name, f"x[i] {sign} z[i]", FLOATS + INTEGERS
    for name, sign in {"rem": "%", "band": "&", "bor": "|", "bxor": "^", "shl": "<<", "shr": ">>"}.items():
        yield name, f"x[i] {sign} z[i]", INTEGERS
    yield "negated", "-x[i]", FLOATS + INTEGERS
    yield "inverted", "~x[i]", INTEGERS
    yield "chosen", "where(x[i] < z[i], x[i], w[i])", FLOATS + INTEGERS
    for types in BITS.values():
        for to in types:
            yield f"bits_{to}", f"bitcast({to}, x[i])", [type for type in types if type != to], to
    everything = FLOATS + STORED + ["i8", "i32", "i64", "u16", "u64"]
    for to in everything:
        yield f"to_{to}", f"{to}(x[i])", everything, to
    for to in FLOATS[:3] + STORED:
        yield f"truncated_{to}", f"{to}(x[i], toward_zero)", [type for type in ["f64", "f32"] if type != to], to


def source():
    kernels = []
    for name, expression, types, *result in elementwise():
        to = result[0] if result else "T"
        value = f"bool({expression})" if name in ("isnan", "isinf") else f"{to}({expression})"
        to = "bool" if name in ("isnan", "isinf") else to
        operands = ", ".join(f"{operand}: T[N]" for operand in "xzw" if f"{operand}[" in expression)
        kernels.append(f"kernel e_{name}<T: {' | '.join(types)}>({operands}) -> (y: {to}[N]) {{\n"
                       f"    parallel i in tiles(N) {{\n        y[i] = {value}\n    }}\n}}\n")
    along = [(name, FLOATS + INTEGERS) for name in ("sum", "prod", "max", "min", "cumsum", "cumprod")]
    along += [("fmax", FLOATS), ("fmin", FLOATS), ("mean", FLOATS)]
    for name, types in along:
        index = "i, :" if name.startswith("cum") else "i"
        kernels.append(f"kernel r_{name}<T: {' | '.join(types)}>(x: T[M, N]) -> (y: T[M{', N' * (index != 'i')}]) {{\n"
                       f"    parallel i in tiles(M) {{\n        y[{index}] = T({name}(x[i, :], N))\n    }}\n}}\n")
    return "\n".join(kernels), len(kernels)


def run(*arguments):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=300)


def check_results(tilec, folder, target):
    """The functions that LLVM would compute in halves, with special values, against the interpreter."""
    import numpy
    numbers = numpy.random.default_rng().standard_normal(1003).astype(numpy.float16)
    special = numpy.array([0.0, -0.0, numpy.nan, numpy.inf, -numpy.inf, 1.0, -65504.0, 6e-8], numpy.float16)
    x = numpy.concatenate([numpy.repeat(special, len(special)), numbers])
    z = numpy.concatenate([numpy.tile(special, len(special)), numbers[::-1]])
    numpy.save(folder / "x.npy", x)
    numpy.save(folder / "z.npy", z)
    for name in ("fmax", "fmin", "max", "min", "copysign", "floor", "ceil", "round", "trunc"):
        operands = ["--in", f"x={folder}/x.npy"] + ["--in", f"z={folder}/z.npy"] * (ARITY.get(name, 1) > 1)
        results = []
        for file, *more in ((folder / f"{target}.tileart", ), (folder / "all.tile", "--device=interp")):
            ran = run(tilec, "run", f"{file}:e_{name}", *operands, "--out", f"y={folder}/y.npy", *more)
            assert ran.returncode == 0, ran.stderr
            results.append(numpy.load(folder / "y.npy"))
        same = (results[0] == results[1]) | (numpy.isnan(results[0]) & numpy.isnan(results[1]))
        assert same.all(), f"{name} on {target}: {x[~same][:5]}, {z[~same][:5]} give {results[0][~same][:5]}, " \
                           f"and {results[1][~same][:5]} in the interpreter"


def main():
    tilec = sys.argv[1]
    text, count = source()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "all.tile").write_text(text)
        for target in TARGETS:
            made = run(tilec, "compile", folder / "all.tile", "--emit=artifact", f"--target={target}", "--no-cache", "-o",
                       folder / f"{target}.tileart")
            assert made.returncode == 0, f"{target}: {made.stderr}"
            info = run(tilec, "info", folder / f"{target}.tileart").stdout
            assert info.count("kernel ") > count, f"{target}: few kernels in the artifact:\n{info}"
        flags = pathlib.Path("/proc/cpuinfo").read_text()
        check_results(tilec, folder, "x86-64-v2")
        if " f16c" in flags and " avx2" in flags and " fma" in flags:
            check_results(tilec, folder, "x86-64-v3")
    print(f"{count} generic kernels, each for {', '.join(TARGETS)}")


main()
