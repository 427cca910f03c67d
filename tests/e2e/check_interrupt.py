#!/usr/bin/env python3
"""Who interrupts tilec, or sees it crash, finds nothing of it among the temporary files.

    check_interrupt.py TILEC

An assembler that takes its time is made up, by a script.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = """
kernel doubled(x: f32[M]) -> (y: f32[M]) {
    parallel i in tiles(M) {
        y[i] = 2 * x[i]
    }
}
"""
CUBIN = ["compile", "k.tile", "--emit=cubin", "--target=sm_90a", "-o", "k.cubin"]
ARTIFACT = ["compile", "k.tile", "--emit=artifact", "-o", "k.tileart"]


def heed():
    """Whoever started this test may ignore interrupts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(tilec, words, folder):
    """In a process group of its own, as a shell starts it."""
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "TILE_CACHE_DIR": "",
                   "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.Popen([tilec, *words], cwd=folder, env=environment, start_new_session=True, preexec_fn=heed,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_files(folder, process):
    """Until the assembler runs."""
    end = time.monotonic() + 60
    while not (folder / "begun").exists():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"the assembler was not started: {process.stderr.read().decode()}")
        time.sleep(0.01)


def main():
    tilec = str(pathlib.Path(sys.argv[1]).resolve())
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tmp").mkdir()
        (folder / "bin").mkdir()
        (folder / "k.tile").write_text(SOURCE)
        ptxas = folder / "bin" / "ptxas"
        ptxas.write_text(f"#!/bin/sh\ntouch {folder / 'begun'}\nexec sleep 100\n")
        ptxas.chmod(0o755)

        def expect_nothing(what):
            nonlocal failures
            left = sorted(path.name for path in (folder / "tmp").iterdir())
            if left:
                failures += 1
                print(f"{what}: {left} is left")
                for path in (folder / "tmp").iterdir():
                    path.unlink() if path.is_file() else path.rmdir()

        for number, code in [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM),
                             (signal.SIGHUP, -signal.SIGHUP), (signal.SIGSEGV, 70)]:
            process = start(tilec, CUBIN, folder)
            wait_for_files(folder, process)
            if not list((folder / "tmp").iterdir()):
                failures += 1
                print("the assembler has no files: this test sees nothing")
            if number == signal.SIGSEGV:
                process.send_signal(number)
            else:
                os.killpg(process.pid, number)
            process.communicate(timeout=60)
            if number == signal.SIGSEGV:
                os.killpg(process.pid, signal.SIGKILL)
            if process.returncode != code:
                failures += 1
                print(f"{number.name}: exit code {process.returncode}, not {code}")
            expect_nothing(number.name)
            (folder / "begun").unlink()

        # Wherever it is: linking is short, so most of these meet something else.
        process = start(tilec, ARTIFACT, folder)
        began = time.monotonic()
        _, errors = process.communicate(timeout=100)
        length = time.monotonic() - began
        if process.returncode != 0:
            failures += 1
            print(f"an artifact can't be made: {errors.decode()}")
        expect_nothing("an artifact")
        for _ in range(20):
            process = start(tilec, ARTIFACT, folder)
            time.sleep(random.uniform(0, length))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=60)
            expect_nothing("an artifact, interrupted")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
