#!/usr/bin/env python3
"""PTX says from which line of which file each instruction comes.

    check_lineinfo.py TILEC WORK

The places are looked for in the source by its text. With ptxas, the machine code has to have the
lines, and to be the same as that of the PTX without them.
"""

import pathlib
import re
import shutil
import struct
import subprocess
import sys

HELPER = """
/// Not in the file of the kernel.
fn twice_root(t) {
    return 2 * sqrt(t)
}
"""
KERNEL = """
import "helper.tile"

kernel lines(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let t = x[i, :]
        let roots = twice_root(t)
        let total = sum(roots, N)
        y[i, :] = roots / total
    }
} schedule { i = 8; warps = 4 }
"""
PTXAS = shutil.which("ptxas") or next(
    (str(p) for p in sorted(pathlib.Path("/usr/local").glob("cuda*/bin/ptxas"))), None)


def line_of(source, text):
    return source[:source.index(text)].count("\n") + 1


def places(ptx):
    """(file name, line, instruction) of each instruction."""
    files = {n: pathlib.Path(name).name for n, name in
             re.findall(r'^\s*\.file\s+(\d+) "([^"]*)"', ptx, re.M)}
    at, result = None, []
    for line in ptx.split("\n"):
        if found := re.match(r"\s*\.loc\s+(\d+) (\d+)", line):
            at = files[found[1]], int(found[2])
        elif re.match(r"\s+@?[%a-z].*;", line) and not line.lstrip().startswith("."):
            result.append((at, line.strip()))
    return result


def code_sections(path):
    """The machine code of a cubin, which is an ELF file, by section."""
    data = path.read_bytes()
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + n * size) for n in range(count)]
    texts = data[headers[names][4]:]
    result = {}
    for name, _, _, _, offset, length in headers:
        title = texts[name:texts.index(b"\0", name)].decode()
        if title.startswith(".text"):
            result[title] = data[offset:offset + length]
    return result


def main():
    tilec, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    (work / "helper.tile").write_text(HELPER)
    (work / "lines.tile").write_text(KERNEL)
    ptx = subprocess.run([tilec, "compile", str(work / "lines.tile") + ":lines", "--dim", "N=384",
                          "--emit=ptx"], capture_output=True, text=True, check=True).stdout
    found = places(ptx)
    assert all(at for at, _ in found), "an instruction has no place"

    def expect(pattern, file, source, text):
        lines = {at for at, code in found if re.search(pattern, code)}
        want = (file, line_of(source, text))
        assert lines == {want}, f"{pattern} is at {lines}, not at {want}"

    expect(r"ld\.global", "lines.tile", KERNEL, "let t")
    expect(r"sqrt", "helper.tile", HELPER, "sqrt(t)")
    expect(r"shfl", "lines.tile", KERNEL, "let total")
    expect(r"st\.global", "lines.tile", KERNEL, "y[i, :]")
    # Directives alone: with `debug` the assembler would optimize nothing.
    assert re.search(r"^\.target sm_90a$", ptx, re.M), "the target has options"
    if not PTXAS:
        print("the PTX is right; NOT ASSEMBLED: there is no ptxas")
        return 0
    bare = "\n".join(line for line in ptx.split("\n")
                     if not re.match(r"\s*\.(loc|file|section)\b", line))
    for name, text, flags in (("lines", ptx, ["-lineinfo"]), ("bare", bare, [])):
        (work / f"{name}.ptx").write_text(text)
        subprocess.run([PTXAS, "-arch=sm_90a", *flags, str(work / f"{name}.ptx"), "-o",
                        str(work / f"{name}.cubin")], check=True)
    cubin = (work / "lines.cubin").read_bytes()
    assert b".debug_line" in cubin, "the machine code has no lines"
    for name in (b"lines.tile", b"helper.tile"):
        assert name in cubin, f"the machine code does not name {name}"
    with_lines, without = (code_sections(work / f"{n}.cubin") for n in ("lines", "bare"))
    assert with_lines and with_lines == without, "line info changes the machine code"
    return 0


sys.exit(main())
