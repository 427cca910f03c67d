"""Writes compile commands that need no precompiled header of GCC, for tools built on Clang.

    plain_compile_commands.py COMPILE_COMMANDS FOLDER

The header that CMake forces into each file stays, as a copy where no compiled one lies beside it.
"""

import json
import pathlib
import re
import shutil
import sys

source, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
commands = json.loads(pathlib.Path(source).read_text())
copies = {}


def copied(match):
    header = match[1]
    if header not in copies:
        copies[header] = folder / f"pch-{len(copies)}.hxx"
        shutil.copyfile(header, copies[header])
    return f"-include {copies[header]}"


for entry in commands:
    command = re.sub(r"-include (\S*cmake_pch\.hxx)", copied, entry["command"])
    entry["command"] = re.sub(r" -(Winvalid-pch|fpch-preprocess|Wno-restrict|Wno-stringop-\w+|-param=ggc\S+)\b", "", command)
commands = [entry for entry in commands if not entry["file"].endswith(("cmake_pch.hxx", "cmake_pch.hxx.cxx"))]
(folder / "compile_commands.json").write_text(json.dumps(commands, indent=1))
