#!/usr/bin/env python3
"""What grid kernels become in PTX: the instruction of each atomic operation, and what stands around it.

    check_atomics.py TILEC WORK
"""

import pathlib
import re
import subprocess
import sys

BITS = {"i32": 32, "u32": 32, "f32": 32, "i64": 64, "u64": 64, "f64": 64}
SIGNS = {"i": "s", "u": "u"}


def instructions(tilec, work, body, types, params="inout h: T[N]"):
    """Those of PTX that go to memory or wait, in order, without operands, for each type."""
    source = work / "atomics.tile"
    source.write_text(f"kernel k<T: {' | '.join(types)}>(x: T[N], {params}) -> () {{\n"
                      f"    grid p in 0..1 {{\n{body}\n    }}\n}} schedule {{ warps = 4 }}\n")
    result = {}
    for type in types:
        ran = subprocess.run([tilec, "compile", f"{source}:k", "--bind", f"T={type}", "--emit=ptx"],
                             capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        result[type] = re.findall(r"^\s*(?:@%p\d+ )?((?:red|atom|ld\.relaxed|st\.relaxed|bar|barrier)\.\S+)",
                                  ran.stdout, re.M)
    return result


def expect(found, want, about):
    found = [re.sub(r"^bar(rier)?\..*", "barrier", name) for name in found]
    assert found == want, f"{about}: {found}, not {want}"


def main():
    tilec, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)

    def check(body, types, want, params="inout h: T[N]"):
        for type, found in instructions(tilec, work, body, types, params).items():
            bits = str(BITS[type])
            names = {"S": SIGNS.get(type[0], "f") + bits, "U": ("f" if type[0] == "f" else "u") + bits,
                     "B": "b" + bits}
            expect(found, [re.sub(r"\b[SUB]$", lambda m: names[m[0]], w) for w in want], f"{body} of {type}")

    numbers, integers, floats = list(BITS), ["i32", "u32", "i64", "u64"], ["f32", "f64"]
    # Nobody asks for what stood there.
    check("atomic_add(h[0], x[0])", numbers, ["red.relaxed.gpu.global.add.U"])
    check("atomic_max(h[0], x[0])", integers, ["red.relaxed.gpu.global.max.S"])
    check("atomic_xor(h[0], x[0])", integers, ["red.relaxed.gpu.global.xor.B"])
    # Somebody does: one thread gives it to the others, through shared memory.
    check("h[1] = atomic_add(h[0], x[0])", numbers,
          ["atom.relaxed.gpu.global.add.U", "barrier", "barrier", "st.relaxed.gpu.global.B"])
    # Floats with NaN and signed zeros: until nobody was faster.
    check("atomic_min(h[0], x[0])", floats,
          ["ld.relaxed.gpu.global.B", "atom.relaxed.gpu.global.cas.B"])
    check("atomic_exchange(h[0], x[0], order = release)", numbers,
          ["barrier", "atom.release.gpu.global.exch.B"])
    check("atomic_exchange(h[0], x[0], order = acquire)", numbers,
          ["atom.acquire.gpu.global.exch.B", "barrier"])
    check("atomic_cas(h[0], x[0], x[1], order = acq_rel)", numbers,
          ["barrier", "atom.acq_rel.gpu.global.cas.B", "barrier"])
    # Tiles that may meet: a barrier between. Different tensors, or reads alone: none.
    block = "let i = range(128)\n"
    check(block + "h[i] = x[i]\nlet t = h[127 - i]\nh[i] = t", ["f32"],
          ["st.relaxed.gpu.global.B", "barrier", "ld.relaxed.gpu.global.B", "barrier",
           "st.relaxed.gpu.global.B"])
    check(block + "h[i] = x[i]\ng[i] = x[i]", ["f32"], ["st.relaxed.gpu.global.B"] * 2,
          "inout h: T[N], inout g: T[N]")
    return 0


sys.exit(main())
