#!/usr/bin/env python3
"""Looks whether each reason that `tilec fuse` has a hint for is still one that the fuser gives, and whether what
docs/fusion.md says in its table is what tests/e2e/fusion/refusals.json has the tool say.

    check_hints.py ROOT
"""

import json
import pathlib
import re
import sys

LITERALS = re.compile(r'"((?:[^"\\]|\\.)*)"')


def texts(path):
    """The string literals of a source, those that follow each other as one."""
    source = re.sub(r'"\s*\n?\s*"', "", path.read_text())
    return [literal.replace('\\"', '"') for literal in LITERALS.findall(source)]


root = pathlib.Path(sys.argv[1])
table = (root / "frontend" / "fusion" / "FusionHints.cpp").read_text().split("hints[] = {")[1].split("\n};")[0]
kinds = re.findall(r'\{"((?:[^"\\]|\\.)*)"', table)
said = [text for path in [*(root / "ir" / "fusion").glob("*.cpp"), root / "frontend" / "fusion" / "FusionCost.cpp"] for text in texts(path)]
unsaid = [kind for kind in kinds if not any(kind in text for text in said)]
for kind in unsaid:
    print(f"frontend/fusion/FusionHints.cpp has a hint for `{kind}`, which the fuser doesn't say any more")
print(f"{len(kinds)} hints, {len(unsaid)} of them for nothing")

told = set()
for case in json.loads((root / "tests" / "e2e" / "fusion" / "refusals.json").read_text()).values():
    reason = case.get("reason")
    told.add((reason["h200"] if isinstance(reason, dict) else reason, case.get("hint", "nothing: it is slower")))
page = (root / "docs" / "fusion.md").read_text()
rows = [line.strip("| ").split(" | ") for line in page.split("| what is said | what to change |\n|---|---|---|---|\n")[1].split("\n\n")[0].split("\n")]
wrong = [row for row in rows if tuple(row[2:]) not in told]
for row in wrong:
    print(f"docs/fusion.md has a row that no refusal agrees with: {row}")
sys.exit(bool(unsaid or wrong) or len(kinds) < 10 or len(rows) < 10)
