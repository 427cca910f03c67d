#!/usr/bin/env python3
"""Looks whether each reason that `tilec fuse` has a hint for is still one that the fuser gives.

    check_hints.py ROOT
"""

import pathlib
import re
import sys

LITERALS = re.compile(r'"((?:[^"\\]|\\.)*)"')


def texts(path):
    """The string literals of a source, those that follow each other as one."""
    source = re.sub(r'"\s*\n?\s*"', "", path.read_text())
    return [literal.replace('\\"', '"') for literal in LITERALS.findall(source)]


root = pathlib.Path(sys.argv[1])
table = (root / "frontend" / "FusionHints.cpp").read_text().split("hints[] = {")[1].split("\n};")[0]
kinds = re.findall(r'\{"((?:[^"\\]|\\.)*)"', table)
said = [text for path in [*(root / "ir" / "fusion").glob("*.cpp"), root / "frontend" / "FusionCost.cpp"] for text in texts(path)]
unsaid = [kind for kind in kinds if not any(kind in text for text in said)]
for kind in unsaid:
    print(f"frontend/FusionHints.cpp has a hint for `{kind}`, which the fuser doesn't say any more")
print(f"{len(kinds)} hints, {len(unsaid)} of them for nothing")
sys.exit(bool(unsaid) or len(kinds) < 10)
