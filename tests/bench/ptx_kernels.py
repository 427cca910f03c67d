"""Kernels as PTX with the lines that tilec puts before it, launched by the driver, and measured beside others by turns.

Needs torch.
"""

import ctypes
import math
import pathlib
import random
import re
import statistics

import torch

UINTS, TF32, SWIZZLES, L2_256B = {1: 0, 2: 1, 4: 2}, 11, {128: 3, 64: 2, 32: 1}, 3  # of cuda.h; types by their bytes
SHARED_SIZE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(text.value.decode())


class Attribute(ctypes.Structure):
    """CUlaunchAttribute"""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int), ("rest", ctypes.c_char * 60)]


class Config(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [(name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")] + [
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


EARLY = Attribute(6, 0, 1)  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


class Kernel:
    """The kernel of a PTX file, and what its first lines say that a launch needs."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        head = re.search(r"// (\w+): (\d+) threads, (\d+) bytes of shared memory(?:, (\d+) blocks a program)?"
                         r"(, persistent)?(, starts early)?(?:; (.*))?", text)
        name, self.threads, self.shared = head[1], int(head[2]), int(head[3])
        self.blocks, self.persistent = int(head[4] or 1), bool(head[5])
        self.early = bool(head[6])
        self.sizes = {binder: int(size) for binder, size in re.findall(r"(\w+) = (\d+)", head[7] or "")}
        self.maps = [(int(n), [int(x) for x in box.split("x")], int(swizzle), bool(rounds)) for n, box, swizzle, rounds in
                     re.findall(r"// tensor map: parameter (\d+), box ([\dx]+), swizzle (\d+)(, to tf32)?", text)]
        named = re.search(r"^// parameters: (.*); dimensions:", text, re.M)
        self.parameters = named[1].split() if named else []
        self.schedule = (re.search(r"^// schedule: (.*)", text, re.M) or ["", ""])[1]
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), text.encode() + b"\0"))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, name.encode()))
        check(cuda.cuFuncSetAttribute(self.function, SHARED_SIZE, self.shared))

    def arrange(self, operands, more, output):
        """The tensors in the order of a fused kernel's parameters: the product's operands, what is added, and the result."""
        last = {name.split("_")[0]: number for number, name in enumerate(self.parameters)}
        tensors = [more] * len(self.parameters)
        for name, tensor in (operands | {"result": output}).items():
            if self.parameters:
                tensors[last[name]] = tensor
        return tensors

    def __str__(self):
        sizes = "x".join(str(size) for size in self.sizes.values())
        return sizes + ("" if self.maps else " (no pipeline)")

    def prepare(self, tensors, dims, multiprocessors, programs=None):
        """A function that launches it; scalars among the tensors are numbers of ctypes. Without a number of programs
        the first dims are those that the blocks cut."""
        values = [ctypes.c_uint64(t.data_ptr()) if torch.is_tensor(t) else t for t in tensors]
        values += [ctypes.c_int64(d) for d in dims]
        memory = []
        for parameter, box, swizzle, rounds in self.maps:
            tensor = tensors[parameter]
            memory.append(ctypes.create_string_buffer(256))
            address = (ctypes.addressof(memory[-1]) + 127) // 128 * 128  # a map's alignment
            rank, size = tensor.dim(), tensor.element_size()
            extents = (ctypes.c_uint64 * rank)(*reversed(tensor.shape))
            strides = (ctypes.c_uint64 * rank)(*[s * size for s in reversed(tensor.stride()[:-1])], 0)
            steps = (ctypes.c_uint32 * rank)(*[1] * rank)
            check(cuda.cuTensorMapEncodeTiled(
                ctypes.c_void_p(address), TF32 if rounds else UINTS[size], rank, ctypes.c_void_p(tensor.data_ptr()),
                extents, strides, (ctypes.c_uint32 * rank)(*box), steps, 0, SWIZZLES[swizzle], L2_256B, 0))
            values.append((ctypes.c_char * 128).from_address(address))
        arguments = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        if programs is None:
            programs = math.prod(-(-extent // size) for extent, size in zip(dims, self.sizes.values()))
        blocks = self.blocks * programs
        if self.persistent:
            blocks = min(blocks, multiprocessors // self.blocks * self.blocks)

        def launch(keep=(values, memory, tensors)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            config = Config(blocks, 1, 1, self.threads, 1, 1, self.shared, stream, ctypes.addressof(EARLY), self.early)
            check(cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, arguments, None))
        return launch


def recorded(call, flops):
    """The call as a CUDA graph of several launches, and how many."""
    launches = max(1, min(64, int(2e11 / flops)))
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            call()
    return graph, launches


def measure(calls, runs, flops):
    """The median time of each, in ms; they take turns."""
    graphs = {name: recorded(call, flops) for name, call in calls.items()}
    times = {name: [] for name in calls}
    for _ in range(runs):
        for name in random.sample(list(graphs), len(graphs)):
            graph, launches = graphs[name]
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            graph.replay()
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[name].append(start.elapsed_time(end) / launches)
    return {name: statistics.median(of) for name, of in times.items()}
