#!/usr/bin/env python3
"""Many runs in one process (tile_command_server) say what each says in a process of its own, and one that ends or hangs
harms no other.

    check_server.py TILEC SERVER

Faults and lost devices are made up, by a server that is a script here.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import tilec_runs

SOURCE = """
kernel doubled(x: i32[M]) -> (y: i32[M]) {
    parallel i in tiles(M) {
        print("x", x[i])
        assert(x[i] < 8, "too much")
        y[i] = x[i] * 2
    }
}
"""

# Answers like CommandServer.cpp, and does what the first word says.
SCRIPT = r"""#!/bin/bash
[ "$2" = --cuda ] || exit 9
while read -r line; do
  echo "$$" >"$1/out"
  case $line in
    *'"dies"'*) echo "a fault" >"$1/err"; kill -SEGV $$ ;;
    *'"hangs"'*) exec sleep 1000 ;;
    *'"loses"'*) echo "an illegal address" >"$1/err"; echo "3 lost"; exit 0 ;;
    *) echo 0 ;;
  esac
done
"""


class Checker:
    failures = 0

    def expect(self, what, actual, expected):
        if actual != expected:
            self.failures += 1
            print(f"{what}:\n  expected {expected!r}\n  got      {actual!r}")


def without_times(text):
    return re.sub(r"[0-9.e-]{6,}", "TIME", str(text))


def check_same(checker, tilec, server, folder):
    """Every kind of end, twice: nothing of one run is left in the next one. A source that changes is read anew."""
    (folder / "k.tile").write_text(SOURCE)
    (folder / "wrong.tile").write_text("kernel k(x: f33[M]) -> (y: f32[M]) {}")
    lines = [["run", "k.tile", "--json", "--in", "x=arange:5:i32"], ["run", "k.tile", "--in", "x=arange:9:i32"],
             ["check", "wrong.tile"], ["info", "k.tile"], ["--version"], ["run"], ["rum"], ["run", "--help"],
             ["run", "k.tile:other"], ["fmt", "-"], ["run", "k.tile", "--in", "x=missing.npy"]] * 2
    alone = tilec_runs.Processes(tilec)
    together = tilec_runs.Servers([server])
    for words in lines:
        one, other = (runs.run(words, folder) for runs in (alone, together))
        for part in ("returncode", "stdout", "stderr"):
            checker.expect(f"{words}: {part}", without_times(getattr(other, part)), without_times(getattr(one, part)))
    (folder / "k.tile").write_text(SOURCE.replace("too much", "changed"))
    checker.expect("a source that has changed", "changed" in together.run(lines[1], folder).stderr, True)
    checker.expect("one process has done it all", together.idle.qsize(), 1)
    together.close()


def check_ends(checker, folder):
    script = folder / "server"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    runs = tilec_runs.runs_of("no-tilec", script)
    processes = [runs.run(["fine"], folder).stdout for _ in range(2)]
    checker.expect("a process stays", processes[0], processes[1])
    for word, code, said in (("dies", -11, "a fault\n"), ("loses", 3, "an illegal address\n")):
        ran = runs.run([word], folder)
        checker.expect(word, (ran.returncode, ran.stdout, ran.stderr), (code, processes[-1], said))
        processes.append(runs.run(["fine"], folder).stdout)
    try:
        runs.run(["hangs"], folder, timeout=1)
        checker.expect("a run that hangs", "ended", "timeout")
    except subprocess.TimeoutExpired:
        pass
    processes.append(runs.run(["fine"], folder).stdout)
    checker.expect("each that ended has a successor", len(set(processes)), 4)
    runs.close()


def main():
    checker = Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_same(checker, sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), folder)
        check_ends(checker, folder)
    if checker.failures:
        sys.exit(f"{checker.failures} failures")


if __name__ == "__main__":
    main()
