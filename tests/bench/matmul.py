#!/usr/bin/env python3
"""The matmul that is written on the tile_gpu level beside cuBLAS (by torch) and Triton, in one run.

    matmul.py PTX [--runs N]

PTX is what tile-translate makes of tests/codegen/text/matmul-in-roles.mlir: C = A · Bᵀ in bf16. Results
are compared with torch's in double precision; then all take turns, N rounds of three launches, of which the
last two are timed. The table has TFLOP/s by the median. Data is random and normal. Triton's kernel
is a persistent one over tensor descriptors, with the best of six configurations. Needs torch, Triton, and a
device of compute capability 9.0.
"""

import argparse
import ctypes
import pathlib
import re
import statistics



def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx")
    parser.add_argument("--runs", type=int, default=30)
    return parser.parse_args()


if __name__ == "__main__":
    options = parse_options()  # --help needs nothing of what follows

import torch
import triton
import triton.language as tl

BFLOAT16, SWIZZLES, L2_256B = 9, {128: 3, 64: 2, 32: 1}, 3  # of cuda.h
SHARED_SIZE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(text.value.decode())


class Kernel:
    """The kernel of a PTX file, and what its first lines say that a launch needs."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        name, threads, shared = re.search(r"// (\w+): (\d+) threads, (\d+) bytes", text).groups()
        self.threads, self.shared = int(threads), int(shared)
        self.maps = [(int(n), [int(x) for x in box.split("x")], int(swizzle)) for n, box, swizzle in re.findall(
            r"// tensor map: parameter (\d+), box ([\dx]+), swizzle (\d+)", text)]
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), text.encode() + b"\0"))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name.encode()))
        check(cuda.cuFuncSetAttribute(self.function, SHARED_SIZE, self.shared))

    def prepare(self, tensors, dims, blocks):
        """A function that launches it; the tensors have to live."""
        values = [ctypes.c_uint64(t.data_ptr()) for t in tensors] + [ctypes.c_int64(d) for d in dims]
        memory = []
        for parameter, box, swizzle in self.maps:
            tensor = tensors[parameter]
            memory.append(ctypes.create_string_buffer(192))
            address = (ctypes.addressof(memory[-1]) + 63) // 64 * 64  # a map's alignment
            rank, size = tensor.dim(), tensor.element_size()
            extents = (ctypes.c_uint64 * rank)(*reversed(tensor.shape))
            strides = (ctypes.c_uint64 * rank)(*[s * size for s in reversed(tensor.stride()[:-1])], 0)
            steps = (ctypes.c_uint32 * rank)(*[1] * rank)
            check(cuda.cuTensorMapEncodeTiled(
                ctypes.c_void_p(address), BFLOAT16, rank, ctypes.c_void_p(tensor.data_ptr()), extents, strides,
                (ctypes.c_uint32 * rank)(*box), steps, 0, SWIZZLES[swizzle], L2_256B, 0))
            values.append((ctypes.c_char * 128).from_address(address))
        arguments = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])

        def launch(keep=(values, memory)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            check(cuda.cuLaunchKernel(self.function, blocks, 1, 1, self.threads, 1, 1, self.shared, stream, arguments,
                                      None))
        return launch


CONFIGS = [triton.Config({"BM": 128, "BN": n, "BK": 64, "GROUP": 8, "ROLES": roles}, num_stages=stages, num_warps=8)
           for n, stages in ((256, 3), (256, 4), (128, 4)) for roles in (False, True)]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def triton_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                  ROLES: tl.constexpr, BLOCKS: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_tiles = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    c_tiles = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, BLOCKS, flatten=True, warp_specialize=ROLES):
        first = tile // (GROUP * columns) * GROUP
        height = min(rows - first, GROUP)
        place = tile % (GROUP * columns)
        i, j = first + place % height, place // height
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a_tiles.load([i * BM, k * BK]), b_tiles.load([j * BN, k * BK]).T, acc)
        c_tiles.store([i * BM, j * BN], acc.to(tl.bfloat16))


def measure(calls, runs):
    """The median time of each, in ms; they take turns."""
    times = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(3):
            call()
    for _ in range(runs):
        for name, call in calls.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            call()
            start.record()
            call()
            call()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / 2)
    return {name: statistics.median(of) for name, of in times.items()}


def main():
    properties = torch.cuda.get_device_properties(0)  # makes the context
    torch.zeros(1, device="cuda")
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    blocks, kernel = properties.multi_processor_count, Kernel(options.ptx)
    print(f"{properties.name}, torch {torch.__version__}, Triton {triton.__version__}; TFLOP/s")
    print(f"{'M × N × K':>20} {'tilec':>7} {'Triton':>7} {'cuBLAS':>7}  tilec / Triton")
    for m, n, k in ((8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (16384, 4096, 4096)):
        a, b = (torch.randn(rows, k, device="cuda", dtype=torch.bfloat16) for rows in (m, n))
        outputs = [torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16) for _ in range(3)]
        launch = kernel.prepare([a, b, outputs[0]], [m, n, k], blocks)
        launch()
        rows = slice(0, 512)  # of the reference, which is slow
        wanted = a[rows].double() @ b.double().T
        bound = wanted.abs() * 2**-8 + a[rows].double().abs() @ b.double().abs().T * 2**-20
        if not ((outputs[0][rows].double() - wanted).abs() <= bound).all():
            raise SystemExit(f"{m} × {n} × {k}: wrong results")
        calls = {"tilec": launch,
                 "Triton": lambda: triton_matmul[(blocks,)](a, b, outputs[1], m, n, k, BLOCKS=blocks),
                 "cuBLAS": lambda: torch.matmul(a, b.T, out=outputs[2])}
        rates = {name: 2 * m * n * k / time / 1e9 for name, time in measure(calls, options.runs).items()}
        print(f"{f'{m} × {n} × {k}':>20} " + " ".join(f"{rates[name]:7.0f}" for name in calls)
              + f"  {rates['tilec'] / rates['Triton']:.2f}")


main()
