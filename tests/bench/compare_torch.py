#!/usr/bin/env python3
"""tilec on the CPU beside torch, eager and compiled, in one run.

    compare_torch.py BENCH TILEC [--threads N] [--rounds N] [--budget SECONDS] [--large BYTES]

BENCH is tile_bench_cpu, TILEC is tilec. In each round each contestant runs each case; the medians
over the rounds are compared: a ratio above 1 means that tilec is faster. torch's times are the
median of its runs in a round, after warming up, with the result's memory allocated by each call, as
torch does it. The transformer block is samples/10-transformer-block, run by `tilec run --repeat`.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import time



def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("tilec")
    parser.add_argument("--threads", type=int, help="torch's own choice without it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=1, help="seconds for each case, contestant and round")
    parser.add_argument("--large", type=int, default=1 << 30)
    return parser.parse_args()


if __name__ == "__main__":
    options = parse_options()  # --help needs nothing of what follows

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]


def median_seconds(run, budget):
    for _ in range(2):
        run()
    times, start = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < budget and len(times) < 200):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def bench_lines(options, filter):
    """Seconds by title."""
    command = [options.bench, "--threads", str(options.threads), "--filter", filter, "--budget", str(options.budget),
               "--large", str(options.large)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {title.strip(): float(ms) / 1e3 for title, ms in re.findall(r"^(.*?)\s+([\d.]+) ms", text, re.M)}


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


class Block:
    """The same block as the sample's, in torch."""

    def __init__(self, batch, length, channels, heads, depth, hidden):
        make = lambda *shape: torch.randn(*shape) * 0.1
        self.heads, self.depth = heads, depth
        self.x = make(batch, length, channels)
        self.g1, self.b1, self.g2, self.b2, self.c2 = (make(channels) for _ in range(5))
        self.wq, self.wk, self.wv = (make(channels, heads * depth) for _ in range(3))
        self.wo, self.c1 = make(heads * depth, channels), make(hidden)
        self.w1, self.w2 = make(channels, hidden), make(hidden, channels)

    def __call__(self):
        batch, length, channels = self.x.shape
        split = lambda t: t.view(batch, length, self.heads, self.depth).transpose(1, 2)
        n1 = F.layer_norm(self.x, (channels,), self.g1, self.b1)
        q, k, v = split(n1 @ self.wq), split(n1 @ self.wk), split(n1 @ self.wv)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.125)
        h = self.x + o.transpose(1, 2).reshape(batch, length, -1) @ self.wo
        n2 = F.layer_norm(h, (channels,), self.g2, self.b2)
        return h + F.gelu(n2 @ self.w1 + self.c1, approximate="tanh") @ self.w2 + self.c2


BLOCK = dict(batch=4, length=512, channels=512, heads=8, depth=64, hidden=2048)


def block_seconds(options):
    b, s, c, h, d, f = BLOCK.values()
    shapes = {"x": f"{b}x{s}x{c}", "g1": c, "b1": c, "wq": f"{c}x{h}x{d}", "wk": f"{c}x{h}x{d}",
              "wv": f"{c}x{h}x{d}", "wo": f"{h}x{d}x{c}", "g2": c, "b2": c, "w1": f"{c}x{f}", "c1": f,
              "w2": f"{f}x{c}", "c2": c}
    command = [options.tilec, "run", str(ROOT / "samples/10-transformer-block/transformer_block.tile"),
               "--entry", "transformer_block", "--repeat", "20", "--json", "--in", "scale=0.125"]
    for name, shape in shapes.items():
        command += ["--in", f"{name}=randn:{shape}:f32"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return statistics.median(report["seconds"])


def torch_cases(title, options):
    """What torch runs for a line of the benchmark."""
    rows = re.fullmatch(r"(softmax|layer norm), (\d+)x(\d+)", title)
    if rows:
        x = torch.randn(int(rows[2]), int(rows[3]))
        g, b = torch.randn(x.shape[1]), torch.randn(x.shape[1])
        if rows[1] == "softmax":
            return lambda: torch.softmax(x, 1), lambda f=torch.compile(lambda t: torch.softmax(t, 1)): f(x)
        norm = lambda t: F.layer_norm(t, t.shape[1:], g, b)
        return lambda: norm(x), lambda f=torch.compile(norm): f(x)
    x = torch.randn(options.large // 12 if title == "GELU, large" else 1 << 16)
    return lambda: gelu(x), lambda f=torch.compile(gelu): f(x)


def main():
    options.threads = options.threads or torch.get_num_threads()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} threads")
    print(f"{'case':36}{'tilec':>11}{'eager':>8}{'compile':>9}   (times of torch / tilec's)")
    with torch.inference_mode():
        block = Block(**BLOCK)
        compiled_block = torch.compile(block.__call__)
        own, eager, compiled = [], [], []
        for _ in range(options.rounds):
            own.append(block_seconds(options))
            eager.append(median_seconds(block, options.budget))
            compiled.append(median_seconds(compiled_block, options.budget))
        show("transformer block", own, eager, compiled)
        wanted = [title for filter in ("softmax", "layer norm", "GELU") for title in bench_lines(options, filter)
                  if title.startswith(filter) and title != "GELU, 48 KB"]
        for title in wanted:
            own, eager, compiled = [], [], []
            runs = torch_cases(title, options)
            for _ in range(options.rounds):
                own.append(bench_lines(options, title)[title])
                eager.append(median_seconds(runs[0], options.budget))
                compiled.append(median_seconds(runs[1], options.budget))
            show(title, own, eager, compiled)
            del runs


def show(title, own, *peers):
    seconds = statistics.median(own)
    ratios = [statistics.median(peer) / seconds for peer in peers]
    print(f"{title:36}{seconds * 1e3:8.3f} ms{ratios[0]:8.2f}{ratios[1]:9.2f}", flush=True)


if __name__ == "__main__":
    main()
