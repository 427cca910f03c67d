#!/usr/bin/env python3
"""Checks every example of a document, such as docs/language.md, with `tilec check`.

A block fenced as ```tile has to pass. One fenced as ```tile error has to fail, and the line after
it, `> error: message`, is the first error printed. `--update` writes those lines anew.
"""
import argparse
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tilec")
parser.add_argument("document")
parser.add_argument("--grammar", help="a file whose text the document has to quote")
parser.add_argument("--update", action="store_true")
options = parser.parse_args()

block = re.compile(r"^```tile( error)?\n(.*?)^```\n(?:> error: ([^\n]*)\n)?", re.MULTILINE | re.DOTALL)
text = open(options.document, encoding="utf-8").read()
failures = 0
count = 0


def check(match):
    global failures, count
    count += 1
    must_fail, source, expected = match.group(1), match.group(2), match.group(3)
    run = subprocess.run([options.tilec, "check", "-"], input=source.encode(), capture_output=True,
                         env=dict(os.environ, NO_COLOR="1"))
    output = (run.stdout + run.stderr).decode(errors="replace")
    found = re.search(r"error: ([^\n]*)", output)
    message = found.group(1) if found else ""
    line = text.count("\n", 0, match.start()) + 1
    if run.returncode != (1 if must_fail else 0):
        print(f"{options.document}:{line}: exit code {run.returncode}\n{output}")
        failures += 1
    elif must_fail and message != expected and not options.update:
        print(f"{options.document}:{line}: expected: {expected}\n  printed: {message}\n{output}")
        failures += 1
    if not must_fail:
        return match.group(0)
    return f"```tile error\n{source}```\n> error: {message}\n"


updated = block.sub(check, text)
if options.update and updated != text:
    open(options.document, "w", encoding="utf-8").write(updated)
if options.grammar and open(options.grammar, encoding="utf-8").read().strip() not in text:
    print(f"{options.document} does not quote {options.grammar}")
    failures += 1
if count == 0:
    print("no examples found")
    failures += 1
print(f"{count} examples, {failures} failures")
sys.exit(1 if failures else 0)
