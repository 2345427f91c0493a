"""Speaks the operator's side of the protocol, for tests."""

from __future__ import annotations

import array
import itertools
import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

START = pathlib.Path(__file__).parents[2] / "warm" / "start.py"

PADDING = 128  # bytes of the value of CHARTBOOK_RUN that a zygote is started with

_numbers = itertools.count()

PATIENCE = 120.0  # seconds until a test takes something for not going to happen


def program() -> str:
    """Returns the path of ansible-playbook."""
    return shutil.which("ansible-playbook") or "ansible-playbook"


def eventually(what: str, check: Callable[[], bool]) -> None:
    """Fails unless check becomes true."""
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.01)


class Lines:
    """Messages that come on a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""

    def next(self) -> dict[str, Any]:
        """Returns the next message, {} at the end of the stream."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self._rest:
            if not select.select([self._socket], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no message within {PATIENCE} s")
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionError:
                return {}
            if not data:
                return {}
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message = json.loads(line)
        assert isinstance(message, dict)
        return message


class Finished:
    """What came of a run, or of a plain ansible-playbook."""

    def __init__(self, code: int, output: dict[str, bytes], last: dict[str, Any], ended: dict[str, Any]) -> None:
        self.code = code  # minus the number of a signal
        self.stdout = output["stdout"].decode()
        self.stderr = output["stderr"].decode()
        self.events = output.get("events", b"").decode()
        self.last = last  # message on the run socket
        self.ended = ended

    def __str__(self) -> str:
        return f"code {self.code}\n{self.stdout}\n{self.stderr}"


class Started:
    """A run that has begun."""

    def __init__(self, zygote: Zygote, name: str, pid: int, connection: socket.socket, outputs: dict[str, int]) -> None:
        self.name = name
        self.pid = pid
        self._zygote = zygote
        self._socket = connection
        self._outputs = outputs

    def request(self, argv: list[str], env: dict[str, str], cwd: str, **more: Any) -> None:
        """Tells the run process what to run."""
        line = {"argv": ["ansible-playbook", *argv], "env": env, "cwd": cwd, **more}
        self._socket.sendall(json.dumps(line).encode() + b"\n")

    def hang_up(self) -> None:
        """Closes the run socket without a request."""
        self._socket.close()

    def last_message(self) -> dict[str, Any]:
        """Waits for what the run process says at its end, {} if it has died, and hangs up."""
        last = Lines(self._socket).next()
        self._socket.close()
        return last

    def output(self) -> dict[str, bytes]:
        """Reads all outputs to their ends."""
        waiting = dict(self._outputs)
        parts: dict[str, list[bytes]] = {name: [] for name in waiting}
        while waiting:
            readable, _, _ = select.select(list(waiting.values()), [], [], PATIENCE)
            if not readable:
                raise AssertionError(f"neither output nor the end of it within {PATIENCE} s: {list(waiting)}")
            for name, fd in list(waiting.items()):
                if fd in readable:
                    data = os.read(fd, 1 << 16)
                    parts[name].append(data)
                    if not data:
                        os.close(waiting.pop(name))
        return {name: b"".join(part) for name, part in parts.items()}

    def finish(self) -> Finished:
        """Waits for its end, and lets go of it."""
        output = self.output()
        last = {} if self._socket.fileno() < 0 else self.last_message()
        ended = self._zygote.expect("ended", self.name)
        self._zygote.send("reap", {"id": self.name})
        return Finished(-ended["signal"] or ended["code"], output, last, ended)


class Zygote:
    """A zygote that this process has started."""

    def __init__(self, *options: str, env: dict[str, str], prefix: tuple[str, ...] = ()) -> None:
        ours, its = socket.socketpair()
        self._words, words = os.pipe()
        mark = "zygote-1".ljust(PADDING, ".")
        self.process = subprocess.Popen(
            [*prefix, sys.executable, str(START), "--program", program(), *options], env={**env, "CHARTBOOK_RUN": mark},
            stdin=subprocess.DEVNULL, stdout=words, stderr=words, pass_fds=[3], preexec_fn=lambda: os.dup2(its.fileno(), 3))
        its.close()
        os.close(words)
        self._socket = ours
        self._lines = Lines(ours)
        self._kept: list[dict[str, Any]] = []
        first = self._lines.next()
        self.ready: dict[str, Any] = first.get("ready", {})
        self.failed: dict[str, Any] = first.get("failed", {})

    def send(self, kind: str, content: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """Sends a message."""
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self._socket.sendmsg([json.dumps({kind: content}).encode() + b"\n"], passed)

    def expect(self, kind: str, run: str) -> dict[str, Any]:
        """Waits for a message about a run. Others are kept."""
        for message in self._kept:
            if message.get(kind, {}).get("id") == run:
                self._kept.remove(message)
                return dict(message[kind])
        while True:
            message = self._lines.next()
            if message.get(kind, {}).get("id") == run:
                return dict(message[kind])
            if not message:
                raise AssertionError("the zygote has ended: " + self.last_words())
            self._kept.append(message)

    def start(self, *extra: int, mark: str = "") -> Started:
        """Starts a run with further descriptors."""
        name = f"{os.getpid()}-{next(_numbers)}"  # which no other test has
        ours, its = socket.socketpair()
        pipes = {name: os.pipe() for name in ("stdout", "stderr", "events")}
        writers = [pipe[1] for pipe in pipes.values()]
        self.send("run", {"id": name, "mark": mark or "CHARTBOOK_RUN=" + name}, (its.fileno(), *writers, *extra))
        for fd in (its.detach(), *writers):
            os.close(fd)
        pid = self.expect("started", name)["pid"]
        return Started(self, name, pid, ours, {name: pipe[0] for name, pipe in pipes.items()})

    def hang_up(self) -> None:
        """Closes the control socket, as the end of the operator does."""
        self._socket.close()

    def wait(self) -> int:
        """Waits for its end. Returns its exit code."""
        return self.process.wait(PATIENCE)

    def last_words(self) -> str:
        """Returns what it wrote to its own outputs until it ended."""
        with os.fdopen(self._words, "rb") as file:
            return file.read().decode()
