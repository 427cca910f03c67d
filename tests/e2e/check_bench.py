#!/usr/bin/env python3
"""tilec bench on the CPU and from descriptions: its JSON, its picture, and its predictions, against figures that are
computed here.

    check_bench.py TILEC [--device cpu|cuda]
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SOURCE = """
/// 5 operations an element: max, difference, exp, sum, quotient.
kernel softmax(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M) {
        let e = exp(x[i, :] - max(x[i, :], N))
        y[i, :] = e / sum(e, N)
    }
} schedule { i = 4 }

/// No arithmetic.
kernel transpose(x: f32[M, N]) -> (z: f32[N, M]) {
    parallel i in tiles(M), j in tiles(N) { z[j, i] = x[i, j] }
} schedule { i = 32; j = 32 }

kernel matmul<T: f32 | bf16>(a: T[M, K], b: T[K, N]) -> (c: T[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        var acc = zeros(f32, i, j)
        for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
        c[i, j] = T(acc)
    }
} schedule { i = 32; j = 32; k = 32 }

map twice(x: f32) -> f32 = x * 2

graph both(x: f32[M, N]) -> (y: f32[M, N]) {
    y = softmax(twice(x))
}
"""
# As `tilec info --device=mine.json` takes it; numbers that are easy to reckon with.
MINE = {"name": "mine", "title": "Mine", "kind": "gpu", "target": "sm_90a", "sources": {"me": "made up"},
        "figures": {key: {"value": value, "unit": unit, "source": "me"} for key, value, unit in [
            ("memory_bandwidth", 1e12, "B/s"), ("launch", 1e-6, "s"), ("vector_f32", 1e13, "FLOP/s"),
            ("matrix_bf16", 1e14, "FLOP/s")]}}
SVG = "{http://www.w3.org/2000/svg}"


class Failures(list):
    def expect(self, title, holds, shown=""):
        if not holds:
            self.append(f"{title} {shown}")

    def near(self, title, actual, expected, share=1e-6):
        holds = actual is not None and math.isclose(actual, expected, rel_tol=share)
        self.expect(title, holds, f"is {actual}, not {expected}")


def bench(tilec, place, *words, code=0):
    ran = subprocess.run([tilec, "bench", *words, "--json"], cwd=place, capture_output=True, text=True, timeout=300)
    if ran.returncode != code:
        raise SystemExit(f"FAILED: exit code {ran.returncode} of {words}\n{ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout)


def check_work(kernel, read, written, operations, failures):
    name = kernel["name"]
    failures.near(f"{name}: bytes_read", kernel["bytes_read"], read)
    failures.near(f"{name}: bytes_written", kernel["bytes_written"], written)
    failures.near(f"{name}: operations", kernel["operations"], operations)
    failures.near(f"{name}: bytes_per_second", kernel["bytes_per_second"], (read + written) / kernel["seconds"])
    if operations:
        failures.near(f"{name}: intensity", kernel["intensity"], operations / (read + written))
        failures.near(f"{name}: operations_per_second", kernel["operations_per_second"],
                      operations / kernel["seconds"])


def check_run(tilec, place, device, failures):
    report = bench(tilec, place, "k.tile:softmax", "k.tile:transpose", "k.tile:matmul", "--in", "x=randn:129x515:f32",
                   "--in", "a=randn:65x131:f32", "--in", "b=randn:131x77:f32", "--runs", "4", "--device", device,
                   "--plot", "plot.svg")
    failures.expect("ok", report["ok"] and not report["prediction"] and report["caches"] == "flushed")
    softmax, transpose, matmul = report["kernels"]
    size = 4 * 129 * 515
    check_work(softmax, size, size, 5 * 129 * 515, failures)
    check_work(transpose, size, size, 0, failures)
    check_work(matmul, 4 * (65 * 131 + 131 * 77), 4 * 65 * 77, 2 * 65 * 131 * 77, failures)
    for kernel in report["kernels"]:
        name = kernel["name"]
        for timing in (kernel["timing"], kernel["copy"]):
            failures.expect(f"{name}: times in order", timing["runs"] == 4 and
                            0 < timing["least"] <= timing["quartiles"][0] <= timing["median"] <=
                            timing["quartiles"][1] <= timing["greatest"], timing)
        failures.near(f"{name}: seconds", kernel["seconds"], kernel["timing"]["median"])
        failures.near(f"{name}: share_of_copy", kernel["share_of_copy"],
                      kernel["copy"]["median"] / kernel["seconds"])
        moved = kernel["bytes_read"] + kernel["bytes_written"]
        failures.near(f"{name}: memory_seconds", kernel["memory_seconds"], moved / report["bandwidth"])
        failures.expect(f"{name}: resources", (kernel["resources"] is None) == (device == "cpu"))
    copies = [(k["bytes_read"] + k["bytes_written"]) / k["copy"]["median"] for k in report["kernels"]]
    failures.expect("the bandwidth is the fastest copy's", report["bandwidth"] >= max(copies) * 0.999999)
    check_picture(place / "plot.svg", [softmax, matmul], ["transpose"], failures)


def check_picture(path, points, others, failures):
    """Where the points are, from the picture's own scale; the figures from the report."""
    root = xml.etree.ElementTree.parse(path).getroot()
    left, top, right, bottom = map(float, root.get("data-plot").split())
    x_from, x_to, y_from, y_to = map(int, root.get("data-decades").split())
    circles = {circle.get("data-name"): circle for circle in root.iter(f"{SVG}circle")}
    failures.expect("the points of the picture", set(circles) == {point["name"] for point in points}, set(circles))
    texts = [text.text for text in root.iter(f"{SVG}text")]

    def place(intensity, operations):
        return (left + (math.log10(intensity) - x_from) / (x_to - x_from) * (right - left),
                bottom + (math.log10(operations) - y_from) / (y_to - y_from) * (top - bottom))

    for point in points:
        name, circle = point["name"], circles[point["name"]]
        x, y = place(point["intensity"], point["operations_per_second"])
        at = float(circle.get("cx")), float(circle.get("cy"))
        failures.expect(f"{name} in the picture", math.dist((x, y), at) < 0.02 and left <= at[0] <= right
                        and top <= at[1] <= bottom, f"is at {at}, not at {(x, y)}")
        failures.expect(f"{name} has a label", name in texts)
    for name in others:
        failures.expect(f"{name} is named below", name in texts and "none" in texts, texts)
    rows = len(points) + len(others)
    failures.expect("each kernel has the roof that bounds it", sum(
        bool(re.fullmatch(r"(launch|memory|compute): \d+% of the time", text or "")) for text in texts) == rows, texts)
    width, height = (float(root.get(key)) for key in ("width", "height"))
    for text in root.iter(f"{SVG}text"):
        if text.get("x"):
            start = float(text.get("x")) - {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")] * 8 * len(text.text)
            failures.expect("texts are inside the picture", start >= 0 and start + 4 * len(text.text) <= width
                            and 0 < float(text.get("y")) < height, text.text)
    roofs = 0
    for line in root.iter(f"{SVG}line"):
        ends = [(float(line.get(f"x{n}")), float(line.get(f"y{n}"))) for n in (1, 2)]
        for x, y in ends:
            intensity = 10 ** (x_from + (x - left) / (right - left) * (x_to - x_from))
            if bandwidth := line.get("data-bandwidth"):
                expected = place(intensity, intensity * float(bandwidth))
            elif rate := line.get("data-rate"):
                expected = place(intensity, float(rate))
            else:
                continue
            roofs += 1
            failures.expect("a roof", math.dist((x, y), expected) < 0.05, f"is at {(x, y)}, not {expected}")
    failures.expect("roofs of memory and arithmetic", roofs >= 4)
    text = path.read_text()
    failures.expect("the picture is self-contained", not re.search(r"href|<script|@import|url\(", text))
    failures.expect("the picture is for dark pages, too", "prefers-color-scheme: dark" in text)


def check_predictions(tilec, place, failures):
    (place / "mine.json").write_text(json.dumps(MINE))
    report = bench(tilec, place, "k.tile:softmax", "k.tile:matmul", "k.tile:matmul", "--device=mine.json", "--in",
                   "x=randn:1000x1000:f32", "--in", "2.a=randn:500x1000:f32", "--in", "2.b=randn:1000x400:f32", "--in",
                   "3.a=randn:500x1000:bf16", "--in", "3.b=randn:1000x400:bf16", "--plot", "plot.svg")
    failures.expect("prediction", report["prediction"] and report["device"] == "Mine")
    softmax, single, half = report["kernels"]
    # 8 MB at 1 TB/s, and a launch; 5 million operations are less.
    failures.near("softmax", softmax["seconds"], 1e-6 + 8e6 / 1e12)
    failures.near("softmax", softmax["compute_seconds"], 5e6 / 1e13)
    failures.expect("softmax", softmax["bound"] == "memory" and softmax["timing"] is None)
    # Products of f32 are for vectors, those of bf16 for the matrix units; then moving takes longer.
    failures.near("matmul of f32", single["seconds"], 1e-6 + 2 * 500 * 1000 * 400 / 1e13)
    failures.near("matmul of bf16", half["compute_seconds"], 2 * 500 * 1000 * 400 / 1e14)
    failures.near("matmul of bf16", half["memory_seconds"], 2 * (500 * 1000 + 1000 * 400 + 500 * 400) / 1e12)
    failures.near("matmul of bf16", half["seconds"], 1e-6 + half["compute_seconds"])
    failures.expect("matmul", [single["bound"], half["bound"]] == ["compute", "compute"])
    failures.expect("names", [single["name"], half["name"]] == ["matmul 2", "matmul 3"])
    check_picture(place / "plot.svg", [softmax, single, half], [], failures)
    tiny = bench(tilec, place, "k.tile:softmax", "--device=h200", "--in", "x=randn:8x8:f32")["kernels"][0]
    failures.expect("a tiny kernel is bound by its launch", tiny["bound"] == "launch", tiny["bound"])


def check_graph(tilec, place, device, failures):
    size = 4 * 65 * 129
    words = ["k.tile:both", "--in", "x=randn:65x129:f32", "--runs", "2", "--warm", "--device", device]
    # Fused, its two kernels are one.
    (kernel,) = bench(tilec, place, *words, "--fuse=exact")["kernels"]
    check_work(kernel, size, size, 6 * 65 * 129, failures)
    failures.expect("fused launches", kernel["launches"] == 1, kernel["launches"])
    report = bench(tilec, place, *words, "--fuse=off")
    (kernel,) = report["kernels"]
    check_work(kernel, 2 * size, 2 * size, 6 * 65 * 129, failures)
    failures.expect("warm", report["caches"] == "warm")
    failures.expect("launches", kernel["launches"] == 2, kernel["launches"])
    # Beside a kernel of another file, and without warm-ups.
    (place / "m.tile").write_text("kernel more(x: f32[M, N]) -> (y: f32[M, N]) {\n"
                                  "    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] + 1 }\n}\n")
    report = bench(tilec, place, "k.tile:both", "m.tile", "--in", "x=randn:65x129:f32", "--runs", "2", "--warmups", "0",
                   "--device", device, "--fuse=off")
    both, more = report["kernels"]
    check_work(both, 2 * size, 2 * size, 6 * 65 * 129, failures)
    check_work(more, size, size, 65 * 129, failures)
    # The same figures without the device.
    report = bench(tilec, place, "k.tile:both", "m.tile", "--in", "x=randn:65x129:f32", "--device=mine.json",
                   "--fuse=off")
    predicted, more = report["kernels"]
    for key in ("bytes_read", "bytes_written", "operations", "launches"):
        failures.expect(f"predicted {key}", predicted[key] == both[key], predicted[key])
    failures.near("both", predicted["seconds"], 1e-6 + 4 * size / 1e12)


def check_modes(tilec, place, device, failures):
    """One graph fused and as it stands, by turns on the same inputs; a kernel beside it is there once."""
    size = 4 * 65 * 129
    words = ["k.tile:both", "k.tile:transpose", "--in", "x=randn:65x129:f32", "--device", device]
    report = bench(tilec, place, *words, "--fuse=off,exact", "--runs", "5", "--no-copies")
    apart, fused, kernel = report["kernels"]
    failures.expect("names", [k["name"] for k in report["kernels"]] == ["both off", "both exact", "transpose"])
    failures.expect("modes", [k.get("fuse") for k in report["kernels"]] == ["off", "exact", None])
    failures.expect("launches of modes", [apart["launches"], fused["launches"]] == [2, 1])
    failures.expect("no copies", report["large_copy"] is None and kernel["copy"] is None and kernel["share_of_copy"] is None)
    for entry in report["kernels"]:
        timing = entry["timing"]
        failures.expect("times by round", len(timing["by_round"]) == 5 and timing["runs"] == 5
                        and min(timing["by_round"]) == timing["least"] and max(timing["by_round"]) == timing["greatest"])
    # Between its two calls is one tensor; fused there is none.
    failures.expect("memory between calls", size <= apart["memory"]["intermediate_bytes"] < size + 4096
                    and fused["memory"]["intermediate_bytes"] == 0, [apart["memory"], fused["memory"]])
    twice = bench(tilec, place, "k.tile:both", "k.tile:both", "--in", "1.x=randn:5x9:f32", "--in", "2.x=randn:9x5:f32",
                  "--device=h200", "--fuse=exact,off")
    failures.expect("names of two", [k["name"] for k in twice["kernels"]] ==
                    ["both 1 exact", "both 1 off", "both 2 exact", "both 2 off"], [k["name"] for k in twice["kernels"]])
    failures.expect("inputs of two", [k["inputs"][0] for k in twice["kernels"]] ==
                    ["x: f32[5x9]"] * 2 + ["x: f32[9x5]"] * 2)
    timed = bench(tilec, place, *words, "--seconds=0.001", "--warm")["kernels"][0]["timing"]
    failures.expect("rounds of a moment", timed["runs"] == 15, timed["runs"])


def check_no_run(tilec, place, device, failures):
    """What --no-run compiles, a run finds in the cache; data is not made, and need not fit."""
    environment = os.environ | {"TILE_CACHE_DIR": str(place / "cache")}

    def seconds(*words):
        ran = subprocess.run([tilec, "bench", "k.tile:both", "--in", "x=randn:65x129:f32", "--device", device, "--json", *words],
                             cwd=place, env=environment, capture_output=True, text=True, timeout=300)
        return json.loads(ran.stdout)

    compiled = seconds("--no-run", "--fuse=off,exact")
    failures.expect("nothing has run", compiled["ok"] and "kernels" not in compiled, compiled)
    stored = sorted(path.name for path in (place / "cache").rglob("*") if path.is_file())
    seconds("--runs=1", "--fuse=off,exact")
    again = sorted(path.name for path in (place / "cache").rglob("*") if path.is_file())
    failures.expect("all was compiled", stored and stored == again, [stored, again])


def check_shapes_alone(tilec, place, failures):
    """Predictions need no data: these would be 4 TB."""
    side = 1 << 20
    (softmax,) = bench(tilec, place, "k.tile:softmax", "--in", f"x=randn:{side}x{side}:f32", "--device=b200")["kernels"]
    check_work(softmax, 4 * side * side, 4 * side * side, 5 * side * side, failures)


def check_tile_sizes(tilec, place, failures):
    """Each access counts with the tile sizes that the device gets: a matmul reads its operands once for each tile."""
    # Without a schedule: the sizes are all the backend's.
    (place / "p.tile").write_text(re.search(r"kernel matmul.*?\n}", SOURCE, re.S)[0].replace("matmul", "product"))
    words = ["p.tile", "--in", "a=randn:512x512:f32", "--in", "b=randn:512x512:f32"]

    def accessed(*more):
        return bench(tilec, place, *words, *more)["kernels"][0]["bytes_accessed"]

    ptx = subprocess.run([tilec, "compile", "p.tile", "--emit=ptx", "--bind", "T=f32", "--dim", "M=512", "--dim",
                          "N=512", "--dim", "K=512"], cwd=place, capture_output=True, text=True, timeout=300)
    sizes = dict(re.findall(r"\b([ijk]) = (\d+)", ptx.stdout.split("\n", 1)[0]))
    given = [word for name, size in sizes.items() for word in ("--set", f"{name}={size}")]
    failures.expect("sizes of the backend", len(given) >= 4, ptx.stdout[:200] + ptx.stderr)
    failures.expect("predicted with them", accessed("--device=h200") == accessed("--device=h200", *given))
    # 512 / j tiles read each element of a, 512 / i each of b; each of c is stored once.
    expected = 4 * 512 * 512 * (512 // int(sizes["j"]) + 512 // int(sizes["i"]) + 1)
    failures.near("bytes_accessed", accessed("--device=h200"), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tilec", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    tilec, failures = options.tilec.resolve(), Failures()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "k.tile").write_text(SOURCE)
        check_run(tilec, place, options.device, failures)
        check_predictions(tilec, place, failures)
        check_graph(tilec, place, options.device, failures)
        check_modes(tilec, place, options.device, failures)
        check_no_run(tilec, place, options.device, failures)
        check_shapes_alone(tilec, place, failures)
        check_tile_sizes(tilec, place, failures)
    for failure in failures:
        print("FAILED", failure)
    print(f"tilec bench on {options.device}, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
