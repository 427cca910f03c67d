#!/usr/bin/env python3
"""Checks which folder uses which: on #include lines, and on what CMake targets link.

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


def include_errors(root, path):
    """The violations of one source file, as lines `file:line: what is wrong`."""
    relative = path.relative_to(root).as_posix()
    unit = unit_of(relative)
    family = relative if FAMILY.match(relative) else None
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
        if FAMILY.match(header) and path.name != "KernelLowering.h":
            if family not in (None, header):
                yield here + f"a family of ops may not know another ({header})"
            family = header
        used = unit_of(header)
        # A folder of a user's may be called ir, too; ours is what exists here.
        if used and (match[1] == '"' or (root / header).exists()) and not may_use(unit, used):
            yield here + f"{unit} may not use {used} ({header})"
        for name, headers, _, users in RESTRICTED:
            if headers.match(header) and unit.split("/")[0] not in users:
                yield here + f"{unit} may not use {name} ({header})"


def check_includes(root):
    errors, files = [], 0
    for folder in sorted({unit.split("/")[0] for unit in MAY_USE}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                files += 1
                errors += include_errors(root, path)
    return errors, files


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
    "ir/Good.h": ('#include "ir/Other.h"', None),
    "ir/AlsoGood.cpp": ("#include <mlir/IR/Builders.h>", None),
    "ir/Bad.h": ('#include "dsl/Ast.h"', "ir may not use dsl"),
    "ir/Bad.cpp": ("#  include <boost/spirit/home/x3.hpp>", "ir may not use Boost"),
    "ir/Bad.td": ('include "codegen/Gpu.td"', "ir may not use codegen"),
    "dsl/Good.cpp": ("#include <boost/spirit/home/x3.hpp>", None),
    "dsl/Bad.cpp": ('#include "runtime/tensor/Tensor.h"', "dsl may not use runtime"),
    "dsl/Up.cpp": ('#include "../frontend/Driver.h"', "from the root"),
    "codegen/gpu/Good.cpp": ('#include "runtime/artifact/Artifact.h"', None),
    "codegen/gpu/Bad.cpp": ('#include "runtime/tensor/Tensor.h"', "codegen may not use runtime"),
    "codegen/gpu/lower/GoodEmitter.h": ('#include "codegen/gpu/lower/Context.h"', None),
    "codegen/gpu/lower/BadEmitter.h": ('#include "codegen/gpu/lower/GoodEmitter.h"', "may not know another"),
    "codegen/gpu/lower/Good.cpp": ('#include "codegen/gpu/lower/GoodEmitter.h"', None),
    "codegen/gpu/lower/KernelLowering.h": ('#include "codegen/gpu/lower/GoodEmitter.h"', None),
    "codegen/cpu/Bad.cpp": ('#include "dsl/Ast.h"', "codegen may not use dsl"),
    "runtime/Good.cpp": ('#include "runtime/artifact/Artifact.h"', None),
    "runtime/Bad.cpp": ("#include <llvm/ADT/StringRef.h>", "runtime may not use LLVM"),
    "runtime/Worse.cpp": ('#include "mlir/IR/Value.h"', "runtime may not use MLIR"),
    "runtime/artifact/Bad.h": ('#include "runtime/tensor/Tensor.h"', "runtime/artifact may not use runtime"),
    "frontend/Good.cpp": ('#include "codegen/cpu/Jit.h"', None),
    "frontend/Bad.cpp": ("#include <boost/spirit/home/x3.hpp>", "frontend may not use Boost"),
    "samples/s/Good.cpp": ('#include "frontend/tile/Tile.h"', None),
    "samples/s/Bad.cpp": ('#include "frontend/Driver.h"', "samples may not use frontend"),
    "samples/s/Worse.cpp": ('#include "ir/dialect/TileOps.h"', "samples may not use ir"),
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
    wanted = [f"{name}:2: " for name, (_, what) in SELF_TEST_FILES.items() if what]
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
