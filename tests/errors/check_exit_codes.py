#!/usr/bin/env python3
"""Holds what the exit codes of tilec mean, over wrong calls of every command.

    check_exit_codes.py TILEC

frontend/cli/ExitCode.h has the rule: 1 the program is wrong, 2 the call is, 3 a file, a device or memory is missing. Each line of CALLS is a call
and its code. Of each that fails, standard error begins with a message of our form, no words of the parser of command lines and no symbol of an
instance (`softmax.f32`) show, and with --json, where the command has it, one object on standard output says the same.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
SOFTMAX, LAYERS, GRAPH = f"{KERNELS}/softmax.tile", f"{KERNELS}/layers.tile", f"{KERNELS}/graph.tile"
ONES = "--in x=ones:4x8:f32"

# Files of the folder that the calls run in.
FILES = {
    "wrong.tile": "kernel f(x: f33[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = x[i] } }\n"
                  "graph g(x: f32[N]) -> (y: f32[N]) { y = f(x) }\n",
    "empty.tile": "",
    "loud.tile": "kernel loud(x: i32[N]) -> (y: i32[N]) {\n    parallel i in tiles(N) {\n        assert(x[i] < 4, \"too much\")\n"
                 "        y[i] = x[i]\n    }\n}\n",
    "far.tile": "grid kernel far(p in 4, x: f32[N]) -> (y: f32[N]) {\n    y[p] = x[p + 1]\n}\n",
    "messy.tile": "kernel   f(x: f32[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = x[i] } }\n",
    "two.tile": "kernel a(x: f32[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = x[i] } }\n"
                "kernel b(x: f32[N]) -> (y: f32[N]) { parallel i in tiles(N) { y[i] = x[i] } }\n"
                "graph g(x: f32[N]) -> (y: f32[N]) { y = b(a(x)) }\n",
    "torn.json": "{\"i\": 4",
    "list.json": "[4]",
    "q.json": "{\"q\": 4}",
    "word.json": "{\"i\": \"four\"}",
    "torn.npy": "\x93NUMPY",
    "s.safetensors": "\x3a" + "\0" * 7 + '{"a":{"dtype":"F32","shape":[4,8],"data_offsets":[0,128]}}' + "\0" * 128,
}

CALLS = [
    # The line as a whole.
    (2, ""), (2, "chek"), (2, "--versoin"), (2, "help chek"), (0, "help"), (0, "help run"), (0, "help help"), (0, "run --help"), (0, "--version"),
    # check
    (0, f"check {SOFTMAX}"), (0, f"check {LAYERS}:matmul"), (0, f"check {LAYERS} --entry=matmul"), (2, "check"), (2, f"check {SOFTMAX} --zzz"),
    (2, f"check {LAYERS}:matmull"), (2, f"check {LAYERS}:matmul --entry=scale"), (2, f"check -Wall {SOFTMAX}"), (2, f"check {SOFTMAX} -I"),
    (2, f"check {SOFTMAX} --error-limit=many"), (2, f"check {SOFTMAX} --error-limit 3 --error-limit 4"), (2, f"check --timing=yes {SOFTMAX}"),
    (2, f"check {SOFTMAX} --color=blue"), (2, "check x.tileart"), (1, "check wrong.tile"), (3, "check missing.tile"), (3, "check ."),
    # compile
    (0, f"compile {SOFTMAX}"), (2, "compile"), (2, f"compile {SOFTMAX} --emit=wasm"), (2, f"compile {SOFTMAX} --emit=obj"),
    (2, f"compile {SOFTMAX} --target=z80"), (2, f"compile {SOFTMAX} --emit=obj --target=sm_90a -o k.o"), (2, f"compile {SOFTMAX} --dim Q=3"),
    (2, f"compile {SOFTMAX} --dim M"), (2, f"compile {SOFTMAX} --dim M=many"), (2, f"compile {SOFTMAX} --dim M=-1"),
    (2, f"compile {SOFTMAX} --bind T=f64"), (2, f"compile {SOFTMAX} --bind U=f32"), (2, f"compile {SOFTMAX} --bind T=real"),
    (2, f"compile {SOFTMAX} --set q=4"), (2, f"compile {SOFTMAX} --set i=0"), (2, f"compile {SOFTMAX} --set softmx.i=4"),
    (2, f"compile {SOFTMAX} --entry=softmx"), (2, f"compile {LAYERS} --emit=asm"), (2, f"compile {SOFTMAX} --stop-after=zzz"),
    (2, f"compile {SOFTMAX} --emit=asm --stop-after=cse"), (2, f"compile {SOFTMAX} --cubins"), (2, f"compile {SOFTMAX} --fuse=maybe --emit=artifact -o a"),
    (2, f"compile {SOFTMAX} {LAYERS}"), (2, f"compile {SOFTMAX} --json -o -"), (2, f"compile {SOFTMAX} --kernel=softmax"),
    (2, f"compile {SOFTMAX} -o {SOFTMAX}"), (1, "compile wrong.tile"), (1, f"compile {SOFTMAX} --schedule torn.json"),
    (1, f"compile {SOFTMAX} --schedule list.json"), (1, f"compile {SOFTMAX} --schedule word.json"), (2, f"compile {SOFTMAX} --schedule q.json"),
    (3, f"compile {SOFTMAX} --schedule missing.json"), (3, f"compile {SOFTMAX} -o nowhere/k.mlir"), (3, "compile missing.tile"),
    # run
    (0, f"run {SOFTMAX} {ONES}"), (2, f"TILE_NUM_THREADS=many run {SOFTMAX} {ONES}"), (2, "run"), (2, f"run {SOFTMAX}"), (2, f"run {SOFTMAX} --in"), (2, f"run {SOFTMAX} --in --check"),
    (2, f"run {SOFTMAX} --in x"), (2, f"run {SOFTMAX} --in x=ones:4x8:f33"), (2, f"run {SOFTMAX} --in x=ones:4xz:f32"),
    (2, f"run {SOFTMAX} --in x=ones:4x8:f64"), (2, f"run {SOFTMAX} --in x=ones:4:f32"), (2, f"run {SOFTMAX} --in z=ones:4x8:f32"),
    (2, f"run {SOFTMAX} --in x=3"), (2, f"run {SOFTMAX} {ONES} {ONES}"), (2, f"run {SOFTMAX} {ONES} --dim N=5"), (2, f"run {SOFTMAX} {ONES} --dim Q=5"),
    (2, f"run {SOFTMAX} {ONES} --dim M=4 --dim M=4"), (2, f"run {SOFTMAX} {ONES} --bind T=f16"), (2, f"run {SOFTMAX} {ONES} --bind T=f64"),
    (2, f"run {SOFTMAX} {ONES} --set q=4"), (2, f"run {SOFTMAX} {ONES} --set i=4 --set i=4"), (2, f"run {SOFTMAX} {ONES} --schedule q.json"),
    (1, f"run {SOFTMAX} {ONES} --schedule torn.json"), (2, f"run {SOFTMAX} {ONES} --device=gpu"), (2, f"run {SOFTMAX} {ONES} --device=cuda:x"),
    (2, f"run {SOFTMAX} {ONES} --device=cpu --device=cpu"), (2, f"run {SOFTMAX} {ONES} --repeat=0"), (2, f"run {SOFTMAX} {ONES} --rtol=-1"),
    (2, f"run {SOFTMAX} {ONES} --sweep-tiles=0"), (2, f"run {SOFTMAX} {ONES} --out y"), (2, f"run {SOFTMAX} {ONES} --out z=z.npy"),
    (2, f"run {SOFTMAX} {ONES} --out y=a.npy --out y=b.npy"), (2, f"run {SOFTMAX} {ONES} --save-inputs x.npy"), (2, f"run {SOFTMAX} {ONES} other.tile"),
    (2, f"run {SOFTMAX} {ONES} --check=yes"), (2, f"run {SOFTMAX} {ONES} --pin torn.json"), (2, f"run {SOFTMAX} {ONES} --fuse=maybe"),
    (2, f"run {SOFTMAX} {ONES} --sanitize --device=interp"), (2, f"run {SOFTMAX} {ONES} --print-after=zzz"), (2, f"run {LAYERS}"), (2, "run empty.tile"),
    (2, f"run {LAYERS}:groups --in x=ones:5:f32 --in r=ones:2:f32"), (2, f"run {LAYERS}:counts --in x=ones:5:i32"),
    (2, f"run {LAYERS}:scale --in x=ones:3:f64 --in s=1"), (2, f"run {LAYERS}:scale --in x=ones:3:f32 --in s=ones:2:f32"),
    (2, f"run {LAYERS}:matmul --in x=ones:2x3:f32 --in w=ones:4x2:f32"), (2, f"run {LAYERS}:matmul --in x=ones:2x3:f16 --in w=ones:3x2:f32"),
    (2, f"run {GRAPH} --in x=ones:2x3:f32 --in w=ones:3x4:f32 --in v=ones:5x6:f32"),
    (2, f"run {GRAPH} --in x=ones:2x3:f32 --in w=ones:3x4:f32 --in v=ones:4x6:f32 --set q=4"),
    (1, f"run {GRAPH} --in x=ones:2x3:f32 --in w=ones:3x4:f32 --in v=ones:4x6:f32 --pin torn.json"),
    (2, f"run {LAYERS}:rows --in x=ones:2x3:f32 --set k=4"), (2, f"run {LAYERS}:rows --in x=ones:2x3:f32 --set b=4"),
    (1, "run wrong.tile --in x=ones:3:f32"), (1, "run loud.tile --in x=arange:9:i32"), (1, "run loud.tile --in x=arange:9:i32 --device=interp"),
    (3, "run missing.tile"), (3, f"run {SOFTMAX} --in x=missing.npy"), (3, f"run {SOFTMAX} --in x=torn.npy"), (0, f"run {SOFTMAX} --in x=s.safetensors:a"), (2, f"run {SOFTMAX} --in x=s.safetensors:b"),
    (3, f"run {SOFTMAX} --in x=missing.safetensors:a"), (3, f"run {SOFTMAX} {ONES} --device=cuda"),
    (3, f"run {SOFTMAX} {ONES} --out y=nowhere/y.npy"), (3, f"run {LAYERS}:matmul --device=interp --in x=ones:3000000x0:f32 --in w=ones:0x3000000:f32"),
    # fuse
    (0, "fuse two.tile --device=h200"), (0, f"fuse {GRAPH} --device=h200 --json"), (2, "fuse"), (2, f"fuse {SOFTMAX}"), (2, f"fuse {LAYERS}:matmul"),
    (2, f"fuse {GRAPH} --device=h300"), (2, f"fuse {GRAPH} --dim Q=3"), (2, f"fuse {GRAPH} --why a"), (2, f"fuse {GRAPH} --why zz yy"),
    (2, f"fuse {GRAPH} --explain=poem"), (2, f"fuse {GRAPH} --measure --device=h200"), (2, f"fuse {GRAPH} --measure --summaries"),
    (2, f"fuse {GRAPH} --json --explain=dot"), (2, f"fuse {GRAPH} --set q=3"), (2, f"fuse {GRAPH} --fuse=maybe"), (2, f"fuse {GRAPH} -o {GRAPH}"),
    (1, f"fuse {GRAPH} --device=torn.json"), (1, "fuse wrong.tile:g"), (3, f"fuse {GRAPH} --device=missing.json"), (3, "fuse missing.tile"),
    (3, f"fuse {GRAPH} --device=h200 -o nowhere/page.html"),
    # bench: predictions alone, nothing is measured
    (0, f"bench {SOFTMAX} {ONES} --device=h200"), (2, "bench"), (2, f"bench {SOFTMAX} --device=h200"), (2, f"bench {SOFTMAX} {ONES} --device=interp"),
    (2, f"bench {SOFTMAX} {ONES} --device=h300"), (2, f"bench {SOFTMAX} {ONES} --device=h200 --dim N=5"), (2, f"bench {SOFTMAX} {ONES} --runs=0"),
    (2, f"bench {SOFTMAX} {ONES} --device=h200 --set q=4"), (2, f"bench {SOFTMAX} {LAYERS}:rows {ONES} --entry=softmax --device=h200"),
    (2, f"bench {SOFTMAX} --in x=ones:4x8:f64 --device=h200"), (2, f"bench {SOFTMAX} {ONES} --in zz=3 --in x=3"), (1, "bench wrong.tile --in x=ones:3:f32"),
    (3, "bench missing.tile"), (1, f"bench {SOFTMAX} {ONES} --device=torn.json"), (3, f"bench {SOFTMAX} {ONES} --device=missing.json"),
    # tune: nothing is measured
    (2, "tune"), (2, "tune two.tile"), (2, "tune two.tile:g"), (2, "tune two.tile:c"), (2, "tune two.tile:a --entry=b"), (2, "tune two.tile:a"),
    (2, "tune two.tile:a --dim N=-4"), (2, "tune two.tile:a --dim N=8 --set q=4"), (2, "tune two.tile:a --candidates=none"),
    (2, "tune two.tile:a --device=interp"), (2, "tune two.tile:a --in x=ones:4x4:f32"), (1, "tune wrong.tile:f"), (3, "tune missing.tile"),
    (3, "tune two.tile:a --dim N=8 --device=cuda"),
    # fmt
    (2, "fmt"), (2, "fmt --chekc messy.tile"), (2, "fmt --color=blue messy.tile"), (1, "fmt --check messy.tile"),
    (1, "fmt wrong.tile --check"), (3, "fmt missing.tile"),
    # info
    (0, f"info {SOFTMAX}"), (0, "info --device=h200"), (2, "info"), (2, f"info {LAYERS}:matmull"), (2, f"info {LAYERS}:matmul --entry=scale"),
    (2, "info --device=h300"), (2, f"info {SOFTMAX} --devices"), (2, "info --devices --device=h200"), (2, f"info {SOFTMAX} {LAYERS}"),
    (1, "info --device=torn.json"), (3, "info --device=missing.json"), (3, "info missing.tile"),
    # cache
    (0, "cache ls"), (2, "cache"), (2, "cache empty"), (2, "cache ls clear"), (2, "cache ls --all"),
]

FORM = re.compile(r"^(?:[^\n:]+:\d+:\d+: )?(?:error|warning): ")
# Words of CLI11, and names of instances.
FOREIGN = re.compile(r"\bTEXT\b|\bUINT\b|\bINT\b|\bFLOAT\b|REQUIRED|Excludes|excludes|required but received|is required\b|Could not|could not convert|"
                     r"argument was not expected|disallowed|Positionals|Subcommands|SUBCOMMAND|`[a-z_0-9]+\.(?:bool|b?f\d+|[iu]\d+)[.`]")
HAS_JSON = {"check", "compile", "run", "fuse", "bench", "tune", "info", "cache"}


def call(tilec, words, folder):
    """The first words may be variables, NAME=VALUE."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TILE_NUM_THREADS": "2", "TILE_CUDA_DRIVER": "/nowhere/libcuda.so.1",
                   "TILE_CACHE_DIR": f"{folder}/cache", "NO_COLOR": "1"}
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, environment[name] = words[0].split("=", 1)
        words = words[1:]
    return subprocess.run([tilec, *words], cwd=folder, env=environment, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=120)


def check(tilec, code, line, folder):
    """What is wrong; empty if nothing is."""
    words = shlex.split(line)
    result = call(tilec, words, folder)
    text = result.stdout + result.stderr
    if result.returncode != code:
        return f"exit code {result.returncode}, not {code}\n{text}"
    if found := FOREIGN.search(text):
        return f"it says {found[0]!r}\n{text}"
    if code and words and not FORM.match(result.stderr) and not (words[0] == "fmt" and not result.stderr):
        return f"it does not begin with a message\n{text}"
    if not words or words[0] not in HAS_JSON or "--json" in words or "--help" in words or "--explain=dot" in line:
        return ""
    again = call(tilec, [words[0], "--json", *words[1:]], folder)
    try:
        answer = json.loads(again.stdout)
    except ValueError as error:
        return f"with --json: {error}\n{again.stdout}{again.stderr}"
    if again.returncode != code and "explain" not in line and "why" not in line and "-o -" not in line:
        return f"with --json exit code {again.returncode}\n{again.stdout}{again.stderr}"
    if answer.get("ok") != (again.returncode == 0):
        return f"with --json \"ok\" is {answer.get('ok')}\n{again.stdout}"
    errors = [one for one in answer["diagnostics"] if one["severity"] == "error"]
    if again.returncode and not errors:
        return f"with --json there is no error\n{again.stdout}"
    for one in errors:
        if one["message"] not in again.stderr or ("range" in one) != ("file" in one):
            return f"with --json another error\n{again.stdout}{again.stderr}"
    return ""


def main():
    tilec = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in FILES.items():
            (folder / file).write_bytes(text.encode("latin-1"))
        made = call(tilec, shlex.split(f"compile {SOFTMAX} --emit=artifact --no-cache --bind T=f32 -o x.tileart"), folder)
        if made.returncode:
            print(made.stderr)
            return 1
        calls = CALLS + [(2, f"run x.tileart {ONES} --dim N=5"), (2, "run x.tileart --in x=ones:4:f32"), (2, "run x.tileart --in x=ones:4x8:f16"),
                         (2, "run x.tileart"), (2, f"run x.tileart:y {ONES}"), (2, f"run x.tileart {ONES} --check"), (0, f"run x.tileart {ONES}"),
                         (0, "info x.tileart"), (2, "info x.tileart:y"), (2, f"bench x.tileart {ONES}"), (2, "tune x.tileart")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = list(pool.map(lambda one: check(tilec, *one, folder), calls))
    for (code, line), problem in zip(calls, problems):
        if problem:
            print(f"FAILED tilec {line.replace(str(KERNELS) + '/', '')}: {problem}")
    print(f"{len(calls)} calls, {sum(map(bool, problems))} failed")
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main())
