#!/usr/bin/env python3
"""What fusion gains, as the clock has it, beside what the bytes say.

    fusion_ratios.py TILEC [GRAPH…] [--device cpu|cuda] [--dim NAME=VALUE…] [--torch]

Runs the memory-bound graphs of tests/e2e/fusion/figures.tile by turns as they stand and fused (`tilec fuse --measure`), with the
dims that figures.json names or --dim does, and prints a table. "By bytes" is what the time would shrink by if both moved their bytes equally fast;
"of that" is the one ratio by the other. With --torch the last columns are what torch.compile takes (fusion_peers.py), and its time by
that of the fused graph.
"""

import argparse
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "e2e" / "fusion"
GRAPHS = ["biased", "gated", "forked", "summed", "chain", "sine_cosine", "mean_squared_loss", "root_of_squares", "normalized",
          "residual_norm", "masked_softmax", "cross_entropy_of", "embedded", "both_sums", "column_moments",
          "standardized", "nested", "transposed_sum", "gated_unit", "rotated", "normed_f8"]


def measured(tilec, graph, device, dims):
    words = [tilec, "fuse", f"{FOLDER / 'figures.tile'}:{graph}", f"--device={device}", "--measure", "--explain=json"]
    for name, value in dims.items():
        words += ["--dim", f"{name}={value}"]
    ran = subprocess.run(words, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{graph}: {ran.stderr}")
    return json.loads(ran.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--torch", action="store_true", help="beside torch.compile, on a GPU")
    arguments = parser.parse_args()
    if arguments.torch:
        import fusion_peers
    try:
        given = {name: int(value) for name, value in (text.split("=") for text in arguments.dim)}
    except ValueError:
        parser.error("--dim takes NAME=VALUE")
    cases = json.loads((FOLDER / "figures.json").read_text())
    for graph in arguments.graphs:
        if graph not in cases:
            parser.error(f"there is no graph '{graph}' in figures.json")
    print("| graph | dims | kernels | off, ms | fused, ms | faster | by bytes | of that |" +
          (" compile, ms | of it |" if arguments.torch else ""))
    print("|---|---|---|---|---|---|---|---|" + ("---|---|" if arguments.torch else ""))
    for graph in arguments.graphs or GRAPHS:
        dims = cases[graph]["dim"] | given
        report = measured(arguments.tilec, graph, arguments.device, dims)
        before, after = report["before"], report["after"]
        faster = before["measured_seconds"] / after["measured_seconds"]
        expected = (before["bytes_read"] + before["bytes_written"]) / (after["bytes_read"] + after["bytes_written"])
        print(f"| {graph} | {', '.join(f'{name} = {value}' for name, value in dims.items())} "
              f"| {len(report['calls'])} → {len(report['kernels'])} | {before['measured_seconds'] * 1e3:.3g} "
              f"| {after['measured_seconds'] * 1e3:.3g} | {faster:.2f} | {expected:.2f} | {faster / expected:.2f} |", end="")
        peer = fusion_peers.seconds(graph, dims) if arguments.torch else None
        print(f" {peer * 1e3:.3g} | {peer / after['measured_seconds']:.2f} |" if peer else "", flush=True)


if __name__ == "__main__":
    main()
