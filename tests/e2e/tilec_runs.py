"""Runs of tilec: each in a process of its own, or many in few processes that stay.

On a GPU a process spends more time on its CUDA context than most tests on their work. `Servers` keeps processes of
CommandServer.cpp; one that ends, hangs or has lost its device is replaced, and the run that it was at is the one to
blame. Both kinds have `run`, which threads may call at the same time.
"""

import json
import os
import pathlib
import queue
import select
import subprocess
import tempfile


class Processes:
    """A process a run."""

    def __init__(self, tilec):
        self.tilec = os.path.abspath(tilec)

    def run(self, words, folder=None, timeout=600):
        """Like subprocess.run: exit code, standard output and error; TimeoutExpired after so many seconds."""
        return subprocess.run([self.tilec, *map(str, words)], cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=timeout, stdin=subprocess.DEVNULL)

    def close(self):
        pass


class Server:
    """One process for many runs, one at a time."""

    def __init__(self, command, environment):
        self.folder = tempfile.TemporaryDirectory()
        self.ended = False
        program, *options = command
        self.process = subprocess.Popen([program, self.folder.name, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)

    def said(self, name):
        path = pathlib.Path(self.folder.name) / name
        return path.read_text(errors="replace") if path.exists() else ""

    def run(self, words, folder, timeout):
        words = [str(word) for word in words]
        for name in ("out", "err"):
            (pathlib.Path(self.folder.name) / name).write_text("")
        try:
            self.process.stdin.write((json.dumps([os.path.abspath(folder or "."), *words]) + "\n").encode())
            self.process.stdin.flush()
            answer = self.answer(words, timeout)
        except BrokenPipeError:
            answer = b""
        if not answer:
            self.ended = True
            code = self.process.wait()
        else:
            code, *lost = answer.split()
            self.ended = bool(lost)
        return subprocess.CompletedProcess(words, int(code), self.said("out"), self.said("err"))

    def answer(self, words, timeout):
        """A line; empty if the process has ended instead."""
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        if not ready:
            self.ended = True
            self.process.kill()
            raise subprocess.TimeoutExpired(["tilec", *words], timeout)
        return self.process.stdout.readline()

    def close(self):
        """Ends the process: at once if nothing more is to be had of it."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout=0 if self.ended else 30)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


class Servers:
    """As many processes as there are runs at the same time."""

    def __init__(self, command, environment=None):
        self.command, self.environment = command, environment
        self.idle = queue.SimpleQueue()

    def run(self, words, folder=None, timeout=600):
        try:
            server = self.idle.get_nowait()
        except queue.Empty:
            server = Server(self.command, self.environment)
        try:
            return server.run(words, folder, timeout)
        finally:
            if server.ended:
                server.close()
            else:
                self.idle.put(server)

    def close(self):
        while not self.idle.empty():
            self.idle.get().close()


def runs_of(tilec, server=None, device="cuda"):
    """What runs tilec: in processes of `server` where there is one."""
    if not server:
        return Processes(tilec)
    return Servers([os.path.abspath(server), *(["--cuda"] if device.startswith("cuda") else [])])
