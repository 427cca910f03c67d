#!/usr/bin/env python3
"""Measures how large what people read is: files and functions of a folder, and what each room of it has.

    measure.py ROOT [FOLDER…]    codegen/gpu without a folder

A function's length is that of its definition, from its first line to its closing brace, at the left margin as
clang-format puts both; those within a class count as lines of it. Comments and empty lines count.
"""

import pathlib
import re
import sys

LONG_FILE, LONG_FUNCTION = 500, 60


def definitions(text):
    """Pairs of a name and a length, of what stands at the left margin and ends with a brace there."""
    start = None
    for number, line in enumerate(text.splitlines()):
        if start is None and re.match(r"[A-Za-z].*[({]$|[A-Za-z].*[,(]$|[A-Za-z][\w:<>&*, ]*\(.*\) .*{$", line):
            start, first = number, line
        elif start is not None and line.startswith("}"):
            if "(" in first and not first.startswith(("namespace", "class", "struct", "enum")):
                name = re.search(r"([\w:~]+|operator\S*) ?\(", first)
                yield name[1] if name else first, number - start + 1
            start = None
        elif start is not None and line.endswith(";") and not line.startswith(" "):
            start = None


def measure(root, folder):
    files = sorted(path for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp"))
    rooms, lengths, functions = {}, [], []
    for path in files:
        text = path.read_text()
        count = text.count("\n")
        room = path.relative_to(root / folder).parts
        rooms.setdefault(room[0] if len(room) > 1 else "(root)", []).append(count)
        lengths.append((count, path.relative_to(root).as_posix()))
        functions += [(length, f"{path.relative_to(root).as_posix()} {name}") for name, length in definitions(text)]
    long_files = [file for file in sorted(lengths, reverse=True) if file[0] > LONG_FILE]
    long_functions = [function for function in sorted(functions, reverse=True) if function[0] > LONG_FUNCTION]
    print(f"{folder}: {len(files)} files, {sum(count for count, _ in lengths)} lines")
    for room, counts in sorted(rooms.items()):
        print(f"  {room}: {len(counts)} files, {sum(counts)} lines")
    print(f"  files over {LONG_FILE} lines: {len(long_files)}")
    for count, name in long_files:
        print(f"    {count} {name}")
    print(f"  functions over {LONG_FUNCTION} lines: {len(long_functions)} of {len(functions)}")
    for count, name in long_functions:
        print(f"    {count} {name}")


def main(arguments):
    if not arguments:
        print(__doc__)
        return 2
    for folder in arguments[1:] or ["codegen/gpu"]:
        measure(pathlib.Path(arguments[0]).resolve(), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
