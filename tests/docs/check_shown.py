#!/usr/bin/env python3
"""Checks what a page says that tilec shows, and that its commands run.

    check_shown.py TILEC PAGE...      check_shown.py --self-test

A block fenced as ```tile NAME.tile is that file for all commands of the page; samples/ is there, too. After `<!-- shows: COMMAND -->`
(`<!-- shows, with exit code 1: COMMAND -->` where it fails) the lines of the next block have to be in the command's output, in that order and without others between them; a line `…` stands for
any lines, `…` within one for any text. Names of values (%12, $L__BB0_2) may be others there, but equal ones are equal, and spaces
don't count. Of a block of ```sass only the instructions are looked for, in any order: ptxas decides the rest.

Every `$ tilec …` of a ```console block runs, but those that need a device; those that need NVIDIA's toolkit run where it is.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^<!-- shows(?:, with exit code (?P<code>\d+))?: (?P<command>[^\n]*?) -->\n)?^```(?P<language>\w+)(?: (?P<name>[\w.-]+))?\n(?P<body>.*?)^```$",
                   re.M | re.S)
VALUE = re.compile(r"%(?!n?c?tid)\w+|\$L\w+")
NEEDS_DEVICE = re.compile(r"--device=cuda|--target=native|--devices")


class Shown:
    """A line of the page as what lines of the output may be."""

    def __init__(self, line):
        self.names = VALUE.findall(line)
        pattern = ""
        for part in re.split(f"({VALUE.pattern}|…|\\s+)", line):
            pattern += (f"({VALUE.pattern})" if VALUE.fullmatch(part) else ".*" if part == "…" else r"\s*" if part.isspace()
                        else re.escape(part))
        self.pattern = re.compile(r"\s*" + pattern + r"\s*")

    def match(self, line, names):
        """The names known afterwards, or None."""
        found = self.pattern.fullmatch(line)
        if not found:
            return None
        known = dict(names)
        for ours, theirs in zip(self.names, found.groups()):
            if known.setdefault(ours, theirs) != theirs:
                return None
        return known if len(set(known.values())) == len(known) else None


def find(shown, output, position, names, is_next):
    """How many lines of the page are found at most, and whether all are."""
    if not shown:
        return 0, True
    if shown[0] is None:
        return find(shown[1:], output, position, names, False)
    best = 0
    for at in range(position, min(position + 1, len(output)) if is_next else len(output)):
        known = shown[0].match(output[at], names)
        if known is None:
            continue
        count, done = find(shown[1:], output, at + 1, known, True)
        best = max(best, count + 1)
        if done:
            return best, True
    return best, False


def compare(body, output, language):
    """What is wrong with a block; empty if nothing is."""
    lines = [line for line in body.split("\n") if line.strip() and not line.startswith("$ ")]
    if language == "sass":
        missing = [word for line in lines for word in re.findall(r"^\s*(?:@!?U?P\d )?([A-Z][A-Z0-9_.]+)", line)
                   if word not in output]
        return f"no {', '.join(missing)}" if missing else ""
    shown = [None if line.strip() == "…" else Shown(line.strip()) for line in lines]
    output = [line for line in output.split("\n") if line.strip() and not line.strip().startswith("// ")
              or line.startswith("// ") and "threads" in line]
    count, done = find(shown, output, 0, {}, False)
    return "" if done else f"not shown: {[line for line in lines if line.strip() != '…'][count]}"


class Page:
    def __init__(self, tilec, path):
        self.tilec, self.path = tilec, path
        self.failures, self.count, self.skipped, self.outputs = [], 0, set(), {}

    def run(self, command, folder, code=0):
        """Its output; None where it can't run here."""
        words = shlex.split(command, comments=True)
        tools = ["ptxas"] * ("--emit=cubin" in words) + ["ptxas", "nvdisasm"] * ("--emit=sass" in words)
        missing = [tool for tool in tools if not shutil.which(tool) and not os.path.exists(f"/usr/local/cuda/bin/{tool}")]
        if NEEDS_DEVICE.search(command) or missing:
            self.skipped.update(missing or ["a device"])
            return None
        if command not in self.outputs:
            ran = subprocess.run([self.tilec, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=300,
                                 env=dict(os.environ, NO_COLOR="1"))
            if ran.returncode != code:
                self.failures.append(f"`{command}` gives exit code {ran.returncode}\n{ran.stderr}")
            self.outputs[command] = ran.stdout
        return self.outputs[command]

    def check(self, folder):
        text = self.path.read_text()
        for block in BLOCK.finditer(text):
            if block["language"] == "tile" and block["name"]:
                (folder / block["name"]).write_text(block["body"])
        for block in BLOCK.finditer(text):
            place = f"{self.path}:{text.count(chr(10), 0, block.start('language')) + 1}"
            if block["language"] == "console":
                for command in re.findall(r"^\$ (tilec [^\n]*)", block["body"], re.M):
                    self.count += self.run(command, folder) is not None
            if block["command"]:
                output = self.run(block["command"], folder, int(block["code"] or 0))
                if output is None:
                    continue
                self.count += 1
                if problem := compare(block["body"], output, block["language"]):
                    self.failures.append(f"{place}: {block['command']}: {problem}")


def self_test():
    output = "// k: 32 threads\n.reg .b32 %r<9>;\n  mov.u32 \t%r16, %tid.x;\n\n  shl.b32 %r17, %r16, 2;\n  add.s32 %r18, %r17, %r16;\n"
    right = ["mov.u32 %a, %tid.x;\nshl.b32 %b, %a, 2;\n", "mov.u32 %r1, %tid.x;\n…\nadd.s32 %r3, %r2, %r1;\n", "…\nadd.s32 …\n",
             "// k: 32 threads\n"]
    wrong = ["mov.u32 %a, %tid.x;\nadd.s32 %c, %b, %a;\n", "mov.u32 %a, %tid.x;\nshl.b32 %a, %a, 2;\n",
             "mov.u32 %a, %tid.x;\nshl.b32 %b, %c, 2;\n", "shl.b32 %b, %a, 2;\n…\nmov.u32 %a, %tid.x;\n", "mov.u32 %a, %tid.y;\n",
             "mov.u32 %a, %b.x;\n"]
    failed = [text for text in right if compare(text, output, "ptx")] + [text for text in wrong if not compare(text, output, "ptx")]
    if compare("LDG.E R4, R8", "  LDG.E R0, R1", "sass") or not compare("LDG.F R4", "LDG.E R4", "sass"):
        failed.append("sass")
    print(f"self-test, {len(failed)} failed: {failed}")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    tilec, code = pathlib.Path(sys.argv[1]).resolve(), 0
    for path in map(pathlib.Path, sys.argv[2:]):
        page = Page(tilec, path)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "samples").symlink_to(path.resolve().parents[1] / "samples")
            page.check(pathlib.Path(folder))
        if not page.count:
            page.failures.append(f"{path} shows nothing")
        for failure in page.failures:
            print("FAILED", failure)
        without = f", without {', '.join(sorted(page.skipped))} for others" if page.skipped else ""
        print(f"{path.name}: {page.count} blocks and commands{without}, {len(page.failures)} failed")
        code = code or bool(page.failures)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
