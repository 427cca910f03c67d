#!/usr/bin/env python3
"""Kernels that are written by hand on the tile_gpu level, on a GPU, against what they compute in other words.

    check_ir.py TILEC [SEED]

Runs the .mlir files of samples/33-hand-written, and variants of them for ops that they don't have, with fresh random
inputs of many shapes: tiles that are full and not, more programs than a GPU runs at a time, none, rows that see no key.
Each is compared by the interpreter with a kernel of a source. What is refused is told.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "samples" / "33-hand-written"
MATMULS = [(128, 256, 64), (1, 8, 8), (129, 272, 72), (300, 520, 1032), (256, 512, 0), (0, 8, 8), (640, 8712, 72)]
# B, H, S, G, L
ATTENTIONS = [(1, 1, 128, 1, 128), (1, 2, 200, 2, 333), (1, 4, 300, 2, 300), (1, 2, 300, 1, 70), (2, 2, 5, 1, 400),
              (1, 1, 129, 1, 0), (1, 2, 0, 2, 5), (3, 50, 5, 10, 150)]

TRANSPOSED = """
kernel relu_matmul(a: bf16[K, M], b: bf16[K, N]) -> (c: bf16[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) {
            acc += dot(max(a[k, i], 0), b[k, j], k)
        }
        c[i, j] = bf16(acc)
    }
}
"""


def variant(folder, kernel, name, *changes):
    """The text of a sample with some of it changed, each in all places."""
    text = (FOLDER / f"{kernel}.mlir").read_text()
    for old, new in changes:
        assert old in text, f"{kernel}.mlir has no {old!r} any more"
        text = text.replace(old, new)
    path = folder / f"{name}.mlir"
    path.write_text(text)
    return path


def cases(seeds):
    for m, n, k in MATMULS:
        yield "relu_matmul", {"a": f"randn:{m}x{k}:bf16:{next(seeds)}", "b": f"randn:{k}x{n}:bf16:{next(seeds)}"}
    for b, h, s, g, l in ATTENTIONS:
        for causal in ("false", "true"):
            tensors = {name: f"randn:{b}x{x}x{y}x128:bf16:{next(seeds)}" for name, x, y in
                       (("q", h, s), ("k", g, l), ("v", g, l))}
            yield "attention", {**tensors, "scale": "0.0883883", "causal": causal}


def run(tilec, kernel, inputs, code=None, source=None):
    command = [tilec, "run", code or FOLDER / f"{kernel}.mlir", "--device=cuda", "--check",
               f"--against={source or FOLDER / 'hand_written.tile'}:{kernel}"]
    for name, spec in inputs.items():
        command += ["--in", f"{name}={spec}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return ran.returncode, ran.stdout + ran.stderr


def main():
    tilec = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    draw = random.Random(seed)
    seeds = iter(lambda: draw.randrange(1, 1 << 30), 0)
    failures = count = 0

    def check(told, kernel, inputs, *files):
        """Told: what a run is refused with; without it, it agrees."""
        nonlocal failures, count
        code, text = run(tilec, kernel, inputs, *files)
        count += 1
        if (code == 0) == bool(told) or (told or "check: agrees with the interpreter, of ") not in text:
            failures += 1
            print(f"FAILED {kernel} " + " ".join(f"--in {name}={spec}" for name, spec in inputs.items()))
            print("    " + text.strip().replace("\n", "\n    "))

    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        source = work / "transposed.tile"
        source.write_text(TRANSPOSED)
        transposed = variant(work, "relu_matmul", "transposed", ("-> (m, k)", "-> (k, m)"),
                             ("!a = !tile_gpu.shared<tensor<128x64", "!a = !tile_gpu.shared<tensor<64x128"),
                             ("(i, j, t) -> (i, t * 64)", "(i, j, t) -> (t * 64, i)"),
                             ("tile_gpu.read %ta", "tile_gpu.read %ta by_columns"))
        wait = "%f = tile_gpu.mma_fresh : !tile_gpu.pending<!s>"
        turns = variant(work, "attention", "turns", (f" {wait}", f" tile_gpu.await_turn\n{wait}"),
                        ("%s = tile_gpu.mma_end %startedS", "tile_gpu.pass_turn\n%s = tile_gpu.mma_end %startedS"))
        for kernel, inputs in cases(seeds):
            check("", kernel, inputs)
            if kernel == "attention":
                check("", kernel, inputs, turns)
                continue
            rows, depth = map(int, inputs["a"].split(":")[1].split("x"))
            rows -= rows % 8  # which copies can take
            if rows < 600:  # the interpreter is slow
                check("", kernel, {**inputs, "a": f"randn:{depth}x{rows}:bf16:{next(seeds)}"}, transposed, source)
        # Rows that bulk copies can't take, and a scale that the kernel doesn't.
        check("16 bytes", "relu_matmul", {"a": "randn:5x7:bf16", "b": "randn:7x8:bf16"})
        tensors = {name: "randn:1x1x4x128:bf16" for name in "qkv"}
        check("scale > 0", "attention", {**tensors, "scale": "-1", "causal": "false"})
    print(f"{count} runs of kernels written by hand, {failures} failed; seed {seed}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
