#!/usr/bin/env python3
"""Checks which folder uses which, and which sub-folder: on #include lines, and on what CMake targets link.

    check_structure.py ROOT [LINKS]    LINKS: lines "folder target library", from CMakeLists.txt here
    check_structure.py --self-test     plants one violation of each kind and looks whether it is found
"""

import pathlib
import re
import sys
import tempfile

# A folder may use itself and these. `runtime/artifact`, plain data, stands for itself.
MAY_USE = {
    "ir": {"ir"},
    "dsl": {"dsl", "ir"},
    "codegen": {"codegen", "ir", "runtime/artifact"},
    "runtime": {"runtime", "runtime/artifact"},
    "runtime/artifact": {"runtime/artifact"},
    "frontend": {"frontend", "dsl", "ir", "codegen", "runtime", "runtime/artifact"},
    "samples": {"samples", "frontend/tile"},
}
# Folders with rooms: sub-folders in an order. What is in a room may use that room and those before it; what
# stands at the folder's root may use all of them, and no room may use it.
ROOMS = {
    "ir": ["dialect", "proofs", "transforms", "builder", "interpreter", "fusion"],
    "codegen/gpu": ["target", "dialect", "loops", "plan", "schedule", "lower"],
    "runtime": ["artifact", "base", "tensor", "launch", "cpu", "cuda", "load"],
    "frontend": ["tile", "base", "model", "execute", "artifact", "fusion", "bench", "tune", "builder", "cli"],
}
# What may stand at their roots: names without suffixes.
ROOTS = {
    "ir": {"Passes", "Pch"},
    "codegen/gpu": {"GpuCompiler", "KernelShape", "Passes"},
    "runtime": set(),
    "frontend": {"tilec"},
}
# Headers for the sources of one module alone: Interpreter.h, InterpreterImpl.h and Interpreter.cpp are one.
PRIVATE = re.compile(r"(Impl|Detail|State)\.h$")
# Modules that are parts of another: each knows the whole, which has them.
PARTS = {
    "codegen/gpu/lower/Context": ["Barriers", "DotOperands", "Exchange", "Folds", "Places", "Programs", "Records",
                                  "SharedMemory", "TensorAccess"],
}
OURS = {"ir", "dsl", "codegen", "runtime", "frontend", "samples", "tests"}

# Libraries that only some folders may use: how their headers and their CMake targets begin.
RESTRICTED = [
    ("MLIR", re.compile(r"mlir(-c)?/"), re.compile(r"MLIR|mlir_|tile_mlir"),
     {"ir", "dsl", "codegen", "frontend"}),
    ("LLVM", re.compile(r"(llvm(-c)?|lld)/"), re.compile(r"LLVM|lld"),
     {"ir", "dsl", "codegen", "frontend"}),
    ("Boost", re.compile(r"boost/"), re.compile(r"Boost::"), {"dsl"}),
]

# Headers of the families of ops that the GPU's lowering has.
FAMILY = re.compile(r"codegen/gpu/lower/\w+Emitter\.h$")

TOGETHER = "codegen/gpu/lower/KernelLowering.h"

SUFFIXES = {".h", ".hpp", ".cpp", ".td", ".inc", ".def", ".cu"}
INCLUDE = re.compile(r'\s*#?\s*(?:include|import)\s*(["<])([^">]+)[">]')


def unit_of(path):
    """The key of MAY_USE that a path from the root belongs to, or None."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] == ("runtime", "artifact"):
        return "runtime/artifact"
    if parts[:2] == ("frontend", "tile"):
        return "frontend/tile"
    return parts[0] if parts and parts[0] in OURS else None


def rule_of(unit):
    """What a unit may use; the public headers are a part of frontend."""
    return MAY_USE["frontend" if unit == "frontend/tile" else unit]


def may_use(unit, used):
    allowed = rule_of(unit)
    return used in allowed or (used == "frontend/tile" and "frontend" in allowed)


def room_of(path):
    """The folder with rooms that a path belongs to, and its room: None at the root. Or None, None."""
    for folder in ROOMS:
        if path.startswith(folder + "/"):
            inner = pathlib.PurePosixPath(path[len(folder) + 1:])
            return folder, inner.parts[0] if len(inner.parts) > 1 else None
    return None, None


def room_error(path, header):
    """Why a file may not include a header of the same folder; None if it may."""
    (folder, own), (other, used) = room_of(path), room_of(header)
    if not folder or folder != other or not own or own not in ROOMS[folder]:
        return None
    if used is None:
        return f"{folder}/{own} may not use what stands at the root of {folder} ({header})"
    if used not in ROOMS[folder]:
        return f"{folder} has no room `{used}` ({header})"
    if ROOMS[folder].index(used) > ROOMS[folder].index(own):
        return f"{folder}/{own} may not use {folder}/{used} ({header})"
    return None


def module_of(path, files):
    """What a file is a part of, for cycles: a header, the source of its name and its private headers."""
    stem, _, suffix = path.rpartition(".")
    if suffix not in ("h", "cpp"):
        return path
    for whole, parts in PARTS.items():
        if stem in (whole.rpartition("/")[0] + "/" + part for part in parts):
            return whole
    public = PRIVATE.sub("", path)
    return public if public != path and public + ".h" in files else stem


def cycle_errors(includes):
    """A line for each set of modules that wait for each other; `includes`: file → [(line, header)]."""
    edges = {}
    for path, lines in includes.items():
        own = edges.setdefault(module_of(path, includes), {})
        for number, header in lines:
            used = module_of(header, includes)
            if header in includes and room_of(header)[0] == room_of(path)[0] and used != module_of(path, includes):
                own.setdefault(used, f"{path}:{number}: ")  # where it is named first
    reported = set()
    for start in sorted(edges):
        # The shortest way back to where it began.
        ways, seen = [[start]], {start}
        found = None
        while ways and not found:
            way = ways.pop(0)
            for used in sorted(edges.get(way[-1], {})):
                if used == start:
                    found = way
                    break
                if used not in seen:
                    seen.add(used)
                    ways.append(way + [used])
        if found and not reported.intersection(found):
            reported.update(found)
            names = " → ".join([*found, start])
            yield edges[start][(found + [start])[1]] + f"files include each other: {names}"


def include_errors(root, path, includes):
    """The violations of one source file, as lines `file:line: what is wrong`. Notes what it includes."""
    relative = path.relative_to(root).as_posix()
    unit = unit_of(relative)
    family = relative if FAMILY.match(relative) else None
    folder, room = room_of(relative)
    if folder:
        includes[relative] = []
        if room and room not in ROOMS[folder]:
            yield f"{relative}:1: {folder} has no room `{room}`"
        if not room and path.stem not in ROOTS[folder]:
            yield f"{relative}:1: belongs into a room of {folder}"
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match[2]
        here = f"{relative}:{number}: "
        if header.startswith("."):
            yield here + f'"{header}": name headers from the root of the repository on'
            continue
        # What puts families of ops together knows all of them, anything else one.
        if header == TOGETHER and path.name not in ("LowerKernel.cpp", "Slices.cpp"):
            yield here + f"a family of ops may not know what puts them together ({header})"
        if FAMILY.match(header) and relative != TOGETHER:
            if family not in (None, header):
                yield here + f"a family of ops may not know another ({header})"
            family = header
        used = unit_of(header)
        if folder and match[1] == '"':
            includes[relative].append((number, header))
            if may_use(unit, used) and (error := room_error(relative, header)):
                yield here + error
        # A folder of a user's may be called ir, too; ours is what exists here.
        if used and (match[1] == '"' or (root / header).exists()) and not may_use(unit, used):
            yield here + f"{unit} may not use {used} ({header})"
        for name, headers, _, users in RESTRICTED:
            if headers.match(header) and unit.split("/")[0] not in users:
                yield here + f"{unit} may not use {name} ({header})"


def check_includes(root):
    errors, files, includes = [], 0, {}
    for folder in sorted({unit.split("/")[0] for unit in MAY_USE}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                files += 1
                errors += include_errors(root, path, includes)
    return [*errors, *cycle_errors(includes)], files


def check_links(text):
    """The violations among lines `folder target library`."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    folder_of = {target: "runtime/artifact" if target.endswith("artifact") else unit_of(folder)
                 for folder, target, _ in rows}
    errors = []
    for folder, target, library in rows:
        unit = folder_of[target]
        if unit not in MAY_USE:
            continue
        used = folder_of.get(library)
        # The public C++ API is two libraries; its headers were checked above.
        if unit == "samples" and (used == "frontend" or library == "tile_runtime"):
            used = "samples"
        if used in OURS | set(MAY_USE) and not may_use(unit, used):
            errors.append(f"{folder}/CMakeLists.txt: {target} ({unit}) may not link {library} ({used})")
        for name, _, targets, users in RESTRICTED:
            if targets.match(library) and unit.split("/")[0] not in users:
                errors.append(f"{folder}/CMakeLists.txt: {target} ({unit}) may not link {library} ({name})")
    return errors, len(rows)


SELF_TEST_FILES = {
    # path: (a line of it, what the error names, or None where the line is right)
    "ir/dialect/Good.h": ('#include "ir/dialect/Other.h"', None),
    "ir/proofs/Good.cpp": ("#include <mlir/IR/Builders.h>", None),
    "ir/proofs/Bad.h": ('#include "dsl/Ast.h"', "ir may not use dsl"),
    "ir/proofs/Bad.cpp": ("#  include <boost/spirit/home/x3.hpp>", "ir may not use Boost"),
    "ir/dialect/Bad.td": ('include "codegen/Gpu.td"', "ir may not use codegen"),
    "dsl/Good.cpp": ("#include <boost/spirit/home/x3.hpp>", None),
    "dsl/Bad.cpp": ('#include "runtime/tensor/Tensor.h"', "dsl may not use runtime"),
    "dsl/Up.cpp": ('#include "../frontend/Driver.h"', "from the root"),
    "codegen/gpu/lower/GoodEmitter.h": ('#include "codegen/gpu/lower/Context.h"', None),
    "codegen/gpu/lower/BadEmitter.h": ('#include "codegen/gpu/lower/GoodEmitter.h"', "may not know another"),
    "codegen/gpu/lower/Good.cpp": ('#include "codegen/gpu/lower/GoodEmitter.h"', None),
    "codegen/gpu/lower/EmitBad.cpp": ('#include "codegen/gpu/lower/KernelLowering.h"', "what puts them together"),
    "codegen/gpu/lower/KernelLowering.h": ('#include "codegen/gpu/lower/GoodEmitter.h"', None),
    "codegen/gpu/plan/Good.cpp": ('#include "runtime/artifact/Artifact.h"', None),
    "codegen/gpu/plan/Bad.cpp": ('#include "runtime/tensor/Tensor.h"', "codegen may not use runtime"),
    "codegen/cpu/Bad.cpp": ('#include "dsl/Ast.h"', "codegen may not use dsl"),
    "runtime/load/Good.cpp": ('#include "runtime/artifact/Artifact.h"', None),
    "runtime/base/Bad.cpp": ("#include <llvm/ADT/StringRef.h>", "runtime may not use LLVM"),
    "runtime/base/Worse.cpp": ('#include "mlir/IR/Value.h"', "runtime may not use MLIR"),
    "runtime/artifact/Bad.h": ('#include "runtime/launch/Binding.h"', "runtime/artifact may not use runtime ("),
    "frontend/execute/Good.cpp": ('#include "codegen/cpu/Jit.h"', None),
    "frontend/cli/Bad.cpp": ("#include <boost/spirit/home/x3.hpp>", "frontend may not use Boost"),
    "samples/s/Good.cpp": ('#include "frontend/tile/Tile.h"', None),
    "samples/s/Bad.cpp": ('#include "frontend/Driver.h"', "samples may not use frontend"),
    "samples/s/Worse.cpp": ('#include "ir/dialect/TileOps.h"', "samples may not use ir"),
    # Rooms: each against the order, a room against the root, one that is none.
    "ir/fusion/Good.cpp": ('#include "ir/proofs/Facts.h"', None),
    "ir/Passes.cpp": ('#include "ir/fusion/Fuser.h"', None),
    "ir/Stray.cpp": ("#include <string>", "belongs into a room of ir"),
    "ir/proofs/Up.cpp": ('#include "ir/fusion/Summary.h"', "ir/proofs may not use ir/fusion"),
    "ir/transforms/Root.cpp": ('#include "ir/Passes.h"', "may not use what stands at the root of ir"),
    "ir/transforms/Lost.cpp": ('#include "ir/attic/Old.h"', "ir has no room `attic`"),
    "ir/cellar/Unknown.h": ("#include <string>", "ir has no room `cellar`"),
    "codegen/gpu/KernelShape.cpp": ('#include "codegen/gpu/GpuCompiler.h"', None),
    "codegen/gpu/schedule/Up.h": ('#include "codegen/gpu/lower/Context.h"', "may not use codegen/gpu/lower"),
    "codegen/gpu/lower/Emit.cpp": ('#include "codegen/gpu/GpuCompiler.h"', "may not use what stands at the root"),
    "codegen/gpu/dialect/Up.td": ('include "codegen/gpu/plan/Plan.td"', "may not use codegen/gpu/plan"),
    "runtime/cuda/Good.cpp": ('#include "runtime/launch/GraphRun.h"', None),
    "runtime/cuda/Up.cpp": ('#include "runtime/load/Artifact.h"', "runtime/cuda may not use runtime/load"),
    "frontend/builder/Good.cpp": ('#include "frontend/tile/Kernel.h"', None),
    "frontend/model/Up.cpp": ('#include "frontend/cli/Session.h"', "frontend/model may not use frontend/cli"),
    # Cycles: by a source, over three; a module's own private header makes none.
    "ir/builder/CycleA.h": ('#include "ir/builder/CycleB.h"', "ir/builder/CycleA → ir/builder/CycleB → ir/builder/CycleA"),
    "ir/builder/CycleB.h": ("#include <string>", None),
    "ir/builder/CycleB.cpp": ('#include "ir/builder/CycleA.h"', None),
    "codegen/gpu/loops/One.h": ('#include "codegen/gpu/loops/Two.h"', "loops/One → codegen/gpu/loops/Two → codegen/gpu/loops/Three → "),
    "codegen/gpu/loops/Two.h": ('#include "codegen/gpu/loops/Three.h"', None),
    "codegen/gpu/loops/Three.h": ('#include "codegen/gpu/loops/One.h"', None),
    "frontend/tune/Tuner.h": ("#include <string>", None),
    "frontend/tune/Tuner.cpp": ('#include "frontend/tune/TunerImpl.h"', None),
    "frontend/tune/TunerImpl.h": ('#include "frontend/tune/Tuner.h"', None),
    # Descriptions of ops are no part of what includes their headers.
    "ir/dialect/Ops.td": ('include "ir/dialect/MoreOps.td"', None),
    "ir/dialect/MoreOps.td": ("// Part of Ops.td.", None),
    "ir/dialect/MoreOps.cpp": ('#include "ir/dialect/Ops.h"', None),
    "ir/dialect/Ops.h": ("#include <string>", None),
}
SELF_TEST_LINKS = [
    # (line, what the error names, or None where the line is right)
    ("ir tile_ir tile_mlir", None),
    ("dsl tile_dsl Boost::headers", None),
    ("dsl tile_dsl tile_ir", None),
    ("codegen tile_codegen tile_ir", None),
    ("codegen tile_codegen tile_artifact", None),
    ("runtime tile_artifact fmt::fmt", None),
    ("frontend tilec tile_codegen", None),
    ("samples digits tilec", None),
    ("samples digits tile_runtime", None),
    ("runtime tile_runtime TBB::tbb", None),
    ("ir tile_ir tile_dsl", "tile_ir (ir) may not link tile_dsl"),
    ("dsl tile_dsl tile_runtime", "tile_dsl (dsl) may not link tile_runtime"),
    ("codegen tile_codegen tile_runtime", "tile_codegen (codegen) may not link tile_runtime"),
    ("runtime tile_runtime LLVMSupport", "tile_runtime (runtime) may not link LLVMSupport"),
    ("runtime tile_runtime tile_mlir", "tile_runtime (runtime) may not link tile_mlir"),
    ("runtime tile_artifact tile_runtime", "tile_artifact (runtime/artifact) may not link tile_runtime"),
    ("frontend tilec Boost::headers", "tilec (frontend) may not link Boost::headers"),
    ("samples digits tile_ir", "digits (samples) may not link tile_ir"),
]


def self_test():
    """Every planted violation gives just one error that names it, and nothing else gives one."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (line, _) in SELF_TEST_FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"// A comment.\n{line}\n")
        found, _ = check_includes(root)
    wanted = [f"{name}:" for name, (_, what) in SELF_TEST_FILES.items() if what]
    said = [what for _, what in SELF_TEST_FILES.values() if what]
    linked, _ = check_links("\n".join(line for line, _ in SELF_TEST_LINKS))
    link_wanted = [what for _, what in SELF_TEST_LINKS if what]

    def matches(errors, places, whats):
        return len(errors) == len(places) and all(
            sum(place in error and what in error for error in errors) == 1
            for place, what in zip(places, whats))

    if matches(found, wanted, said) and matches(linked, link_wanted, link_wanted):
        print(f"all {len(wanted)} + {len(link_wanted)} planted violations were found, and no other")
        return 0
    print("The checker is wrong. It found:", *found, *linked, "It should find:", *wanted, *link_wanted,
          sep="\n  ")
    return 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not 1 <= len(arguments) <= 2:
        print(__doc__)
        return 2
    root = pathlib.Path(arguments[0]).resolve()
    errors, files = check_includes(root)
    links = 0
    if len(arguments) == 2:
        link_errors, links = check_links(pathlib.Path(arguments[1]).read_text())
        errors += link_errors
    print(*errors, f"{files} files and {links} links checked, {len(errors)} errors", sep="\n")
    # Nothing checked is no success: the folders have moved.
    return 1 if errors or not files or (len(arguments) == 2 and not links) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
