#!/usr/bin/env python3
"""What `tilec` makes of its cache and of artifacts, seen from outside.

    check_cache.py TILEC

A second run generates no code and computes the same; a damaged entry, a folder that is not one's own, and processes
that are killed cost time and nothing else. Artifacts run as their sources do, and say what is wrong.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOFTMAX = str(ROOT / "samples" / "03-softmax" / "softmax.tile")
LAYERS = str(ROOT / "samples" / "28-artifact" / "layers.tile")
BLOCK = str(ROOT / "samples" / "10-transformer-block" / "transformer_block.tile")
INPUT = ["--in", "x=randn:61x127:f32:1"]


class Tilec:
    def __init__(self, program, cache):
        self.program, self.environment = program, {**os.environ, "TILE_CACHE_DIR": str(cache)}
        self.environment.pop("TILE_CACHE_SIZE", None)

    def __call__(self, *arguments, **environment):
        """(exit code, standard output, standard error)"""
        ran = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                             env={**self.environment, **environment})
        return ran.returncode, ran.stdout, ran.stderr

    def run(self, *arguments, **environment):
        """The report of a run that has to succeed, and whether code was generated."""
        code, out, err = self("run", *arguments, "--json", "--timing", **environment)
        assert code == 0, err
        return json.loads(out), "cpu code" in err, err


def results(report):
    return [(output["name"], output["shape"], output["checksum"]) for output in report["outputs"]]


def check_second_run(tilec, cache):
    first, generated, _ = tilec.run(SOFTMAX, *INPUT)
    assert generated and cache.stat().st_mode & 0o777 == 0o700
    second, generated, _ = tilec.run(SOFTMAX, *INPUT)
    assert not generated, "the second run generates code"
    assert results(second) == results(first)
    # Other numbers are the same code, other sizes and other types are not.
    assert not tilec.run(SOFTMAX, "--in", "x=randn:61x127:f32:2")[1]
    assert tilec.run(SOFTMAX, *INPUT, "--set", "i=3")[1]
    assert tilec.run(SOFTMAX, "--in", "x=randn:3x5:f16:1")[1]
    count = len(list(cache.iterdir()))
    report, generated, _ = tilec.run(SOFTMAX, *INPUT, "--set", "i=5", "--no-cache")
    assert generated and len(list(cache.iterdir())) == count
    assert tilec.run(SOFTMAX, *INPUT, TILE_CACHE_DIR="")[1]
    return results(first)


def check_damage(tilec, cache, expected):
    for entry in cache.iterdir():
        content = bytearray(entry.read_bytes())
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        entry.write_bytes(content)
    report, generated, err = tilec.run(SOFTMAX, *INPUT)
    assert generated and results(report) == expected, err
    assert not tilec.run(SOFTMAX, *INPUT)[1]
    next(cache.iterdir()).write_bytes(b"nonsense")
    verified = json.loads(tilec("cache", "verify", "--json")[1])
    assert len(verified["damaged"]) >= 1
    assert json.loads(tilec("cache", "verify", "--json")[1])["damaged"] == []


def check_folders(tilec, cache, expected):
    cache.chmod(0o755)
    report, generated, err = tilec.run(SOFTMAX, *INPUT)
    assert generated and results(report) == expected
    assert err.count("is open to other users; compiled code is not kept") == 1, err
    assert tilec("cache", "ls")[0] == 3
    cache.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(cache, 12345, 12345)
        report, generated, err = tilec.run(SOFTMAX, *INPUT)
        assert generated and results(report) == expected and "belongs to another user" in err, err
        os.chown(cache, 0, 0)
    code, _, err = tilec("cache", "ls", TILE_CACHE_SIZE="much")
    assert code == 3 and "TILE_CACHE_SIZE" in err
    code, _, err = tilec("cache", "ls", TILE_CACHE_DIR="")
    assert code == 3 and "there is no cache" in err


def check_kills(tilec, cache, expected):
    """Processes that are killed at any moment of compiling and storing."""
    shutil.rmtree(cache)
    for _ in range(25):
        children = [subprocess.Popen([tilec.program, "run", SOFTMAX, *INPUT, "--set", f"i={n + 1}"],
                                     env=tilec.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for n in range(2)]
        time.sleep(random.uniform(0.01, 0.2))
        for child in children:
            child.kill()
            child.wait()
    assert json.loads(tilec("cache", "verify", "--json")[1])["damaged"] == []
    for n in range(2):
        assert results(tilec.run(SOFTMAX, *INPUT, "--set", f"i={n + 1}")[0]) == expected
        assert not tilec.run(SOFTMAX, *INPUT, "--set", f"i={n + 1}")[1]
    listed = json.loads(tilec("cache", "ls", "--json")[1])
    assert len(listed["entries"]) == 2 and listed["bytes"] < listed["max_bytes"]
    assert json.loads(tilec("cache", "clear", "--json")[1])["removed"] == 2
    assert list(cache.iterdir()) == []


def check_artifacts(tilec, folder, expected):
    def compile(name, *arguments):
        code, _, err = tilec("compile", *arguments, "--emit=artifact", "-o", folder / name)
        assert code == 0, err
        return folder / name

    first, second = compile("a.tileart", SOFTMAX), compile("b.tileart", SOFTMAX, "--no-cache")
    assert first.read_bytes() == second.read_bytes(), "the same sources give different artifacts"
    report, generated, _ = tilec.run(f"{first}:softmax", *INPUT)
    assert not generated and results(report) == expected
    both = compile("both.tileart", SOFTMAX + ":softmax", LAYERS + ":dense", "--bind", "T=f32", "--target=x86-64-v2")
    info = tilec("info", both)[1]
    assert "kernel softmax<T = f32>" in info and "kernel dense<T = f32>" in info and "f64" not in info, info
    assert "avx" not in info and "x86-64-v2" in info, info

    def refused(code, message, *arguments):
        got, _, err = tilec(*arguments)
        assert got == code and message in err, f"{arguments}: {got}\n{err}"

    refused(2, "--check needs the source", "run", first, *INPUT, "--check")
    refused(2, "several kernels and graphs", "run", both, *INPUT)
    refused(2, "has no kernel or graph `sofmax`", "run", f"{both}:sofmax", *INPUT)
    refused(2, "was not compiled for these types", "run", f"{first}", "--in", "x=randn:3x4:f64:1")
    refused(2, "holds f32", "run", f"{both}:softmax", "--in", "x=randn:3x4:f16:1")
    refused(2, "has 2 dimensions", "run", first, "--in", "x=randn:3:f32:1")
    refused(2, "needs x: f32[M, N]", "run", first)
    refused(2, "has a type parameter 'U'", "compile", SOFTMAX, "--emit=artifact", "--bind", "U=f32", "-o", folder / "c")
    refused(2, "is in", "compile", SOFTMAX, LAYERS, "--emit=artifact", "-o", folder / "c")
    refused(2, "needs -o FILE", "compile", SOFTMAX, "--emit=artifact")
    fixed = compile("fixed.tileart", SOFTMAX, "--dim", "N=127", "--bind", "T=f32")
    assert results(tilec.run(fixed, *INPUT)[0])[0][1] == [61, 127]
    refused(2, "`N` is 127 in this specialized kernel but 5 in `x`", "run", fixed, "--in", "x=randn:3x5:f32:1")
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 4
    first.write_bytes(content)
    refused(3, "the artifact is damaged", "run", first, *INPUT)


def check_gpu_artifacts(tilec, folder, expected):
    """What an artifact has for GPUs; nothing here needs one."""

    def compile(name, *arguments):
        code, _, err = tilec("compile", *arguments, "--emit=artifact", "--bind", "T=f32", "--no-cache", "-o", folder / name)
        return code, err

    def refused(code, message, *arguments):
        got, _, err = tilec(*arguments)
        assert got == code and message in err, f"{arguments}: {got}\n{err}"

    both, gpu = folder / "gpu.tileart", folder / "only.tileart"
    code, err = compile("gpu.tileart", SOFTMAX, "--target=sm_90a,native,sm_80")
    assert code == 0 and not err, err
    once = both.read_bytes()
    assert compile("gpu.tileart", SOFTMAX, "--target=native,sm_80,sm_90a") == (0, "")
    assert both.read_bytes() == once, "the order of targets matters"
    assert results(tilec.run(both, *INPUT)[0]) == expected
    lines = [line.strip() for line in tilec("info", both)[1].splitlines() if line.startswith("    for ")]
    assert lines[0].startswith("for native "), lines
    targets = [line.split()[1] for line in lines[1:]]
    assert targets == sorted(targets, reverse=True) and set(targets) == {"sm_90a", "sm_80"}, lines
    conditions = [line.split(" where ")[1].split(":")[0] if " where " in line else "" for line in lines[1:]]
    half = conditions[:len(conditions) // 2]
    assert half == conditions[len(conditions) // 2:] and half[-1] == "", conditions
    assert "N <= 256, N % 4 == 0" in half and "N % 4 == 0" in half and "N <= 16384" in half, half
    # A device is opened before anything runs.
    missing = {"TILE_CUDA_DRIVER": str(folder / "libnone.so")}
    got, _, err = tilec("run", both, *INPUT, "--device=cuda", **missing)
    assert got == 3 and "there is no CUDA driver" in err, err
    refused(2, "--device=interp needs the source", "run", both, *INPUT, "--device=interp")
    refused(2, "there is no device 'tpu'", "run", both, *INPUT, "--device=tpu")
    assert compile("only.tileart", SOFTMAX, "--target=sm_80") == (0, "")
    refused(1, "no code of `softmax` for processors", "run", gpu, *INPUT)
    # A dimension that is a constant needs no buckets.
    assert compile("fixed.tileart", SOFTMAX, "--target=sm_90a", "--dim", "N=781") == (0, "")
    info = tilec("info", folder / "fixed.tileart")[1]
    assert info.count("    for sm_90a") == 1 and "where" not in info, info
    # What sorts needs lengths that are known.
    source = folder / "order.tile"
    source.write_text("kernel order(x: f32[M, N]) -> (y: f32[M, N]) {\n    parallel i in tiles(M) {\n"
                      "        y[i, :] = sort(x[i, :], N)\n    }\n}\n")
    code, _, err = tilec("compile", source, "--emit=artifact", "--target=sm_90a", "-o", folder / "order.tileart")
    assert code == 0 and "remark: for sm_90a there is no code of `order` where N exceeds " in err, err
    # Machine code has to be asked for, and needs somebody who makes it.
    toolkit = {"PATH": "/nowhere", "CUDA_HOME": str(folder), **missing}
    got, _, err = tilec("compile", SOFTMAX, "--emit=artifact", "--target=sm_90a", "--cubins", "-o", gpu, **toolkit)
    assert got == 3 and "ptxas" in err, err
    got, _, err = tilec("compile", SOFTMAX, "--emit=artifact", "--target=sm_90a", "-o", gpu, **toolkit)
    assert got == 0, err
    if shutil.which("ptxas"):
        assert compile("cubins.tileart", SOFTMAX, "--target=sm_90a", "--cubins", "--dim", "N=781") == (0, "")
        assert "of machine code" in tilec("info", folder / "cubins.tileart")[1]
    refused(2, "takes one target", "compile", SOFTMAX, "--emit=ptx", "--target=sm_80,sm_90a")
    refused(2, "'sm_70' is none of", "compile", SOFTMAX, "--emit=artifact", "--target=native,sm_70", "-o", gpu)
    refused(2, "--cubins says nothing", "compile", SOFTMAX, "--emit=artifact", "--cubins", "-o", gpu)
    refused(2, "--cubins says nothing", "compile", SOFTMAX, "--emit=ptx", "--cubins")


def check_vetoes(tilec, folder):
    """Code that is made of a graph is what a run has: calls whose kernel would spill stay apart, and `fuse` then knows it."""
    if not shutil.which("ptxas"):
        return
    source = folder / "both.tile"
    source.write_text("".join(f"kernel {name}(x: f32[M, N]) -> (y: f32[M, N]) {{\n    parallel i in tiles(M) {{\n"
                              f"        y[i, :] = cumsum(x[i, :], N{rest})\n    }}\n}}\n" for name, rest in (("forth", ""), ("back", ", reverse = true")))
                      + "graph both_ways(x: f32[M, N]) -> (y: f32[M, N]) {\n    y = forth(x) + back(x)\n}\n")
    short, long = (["--dim", "M=4096", "--dim", f"N={n}"] for n in (1000, 32768))
    spills = "of its registers in memory, as its code has shown"

    def planned(dims):
        return tilec("fuse", source, *dims, "--device=h200")[1]

    assert spills not in planned(long)
    for emit in ("ptx", "gpu"):
        assert tilec("compile", f"{source}:both_ways", *short, f"--emit={emit}")[0] == 0
        code, _, err = tilec("compile", f"{source}:both_ways", *long, f"--emit={emit}")
        assert code == 2 and "takes one kernel, and graph `both_ways` has 2 calls" in err, err
    assert spills in planned(long) and spills not in planned(short)


def check_memory(tilec):
    """The tensors between the calls of a graph share memory."""
    inputs = json.loads((pathlib.Path(BLOCK).parent / "shapes.json").read_text())["transformer_block"]["shapes"][0]["in"]
    arguments = [word for name, spec in inputs.items() for word in ("--in", f"{name}={spec}")]
    memory = tilec.run(f"{BLOCK}:transformer_block", *arguments)[0]["memory"]
    assert memory["intermediate_tensors"] > 4, memory
    assert 0 < memory["intermediate_bytes"] < memory["bytes_without_sharing"], memory


def main():
    with tempfile.TemporaryDirectory() as place:
        cache = pathlib.Path(place) / "cache"
        tilec = Tilec(os.path.abspath(sys.argv[1]), cache)
        expected = check_second_run(tilec, cache)
        check_damage(tilec, cache, expected)
        check_folders(tilec, cache, expected)
        check_kills(tilec, cache, expected)
        check_artifacts(tilec, pathlib.Path(place), expected)
        check_gpu_artifacts(tilec, pathlib.Path(place), expected)
        check_vetoes(tilec, pathlib.Path(place))
        check_memory(tilec)
    print("the cache and artifacts keep their promises")


if __name__ == "__main__":
    main()
