"""Speaks the operator's side of the protocol, for tests."""

from __future__ import annotations

import array
import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

START = pathlib.Path(__file__).parents[2] / "warm" / "start.py"

PADDING = 128  # bytes of the value of CHARTBOOK_RUN that a zygote is started with


def program() -> str:
    """Returns the path of ansible-playbook."""
    return os.environ.get("CHARTBOOK_TEST_PLAYBOOK", "/usr/bin/ansible-playbook")


def python() -> str:
    """Returns the Python that ansible-playbook runs with."""
    return sys.executable


def read_all(fd: int) -> bytes:
    """Reads a pipe to its end, and closes it."""
    with os.fdopen(fd, "rb") as file:
        return file.read()


class Lines:
    """Messages that come on a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""

    def next(self, timeout: float = 60) -> dict[str, Any]:
        """Returns the next message, {} at the end of the stream."""
        end = time.monotonic() + timeout
        while b"\n" not in self._rest:
            if not select.select([self._socket], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no message within {timeout} s")
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


class Started:
    """A run that has been asked for."""

    def __init__(self, zygote: Zygote, name: str, connection: socket.socket, pid: int, outputs: dict[str, int]) -> None:
        self.pid = pid
        self._zygote = zygote
        self._name = name
        self._socket = connection
        self._outputs = outputs

    def request(self, argv: list[str], env: dict[str, str], cwd: str, **more: Any) -> None:
        """Tells the run process what to run."""
        line = {"argv": ["ansible-playbook", *argv], "env": env, "cwd": cwd, **more}
        self._socket.sendall(json.dumps(line).encode() + b"\n")

    def finish(self) -> Finished:
        """Waits for its end."""
        output = {}
        waiting = dict(self._outputs)
        parts: dict[str, list[bytes]] = {name: [] for name in waiting}
        while waiting:
            readable, _, _ = select.select(list(waiting.values()), [], [], 120)
            if not readable:
                raise TimeoutError("no output and no end of it within 120 s")
            for name, fd in list(waiting.items()):
                if fd in readable:
                    data = os.read(fd, 1 << 16)
                    parts[name].append(data)
                    if not data:
                        os.close(waiting.pop(name))
        output = {name: b"".join(part).decode() for name, part in parts.items()}
        final = Lines(self._socket).next()
        self._socket.close()
        ended = self._zygote.expect("ended", self._name)
        self._zygote.send("reap", {"id": self._name})
        return Finished(output, final.get("final", {}), ended)


class Finished:
    """What came of a run."""

    def __init__(self, output: dict[str, str], final: dict[str, Any], ended: dict[str, Any]) -> None:
        self.stdout = output["stdout"]
        self.stderr = output["stderr"]
        self.events = output["events"]
        self.final = final
        self.ended = ended
        self.code = ended["code"]


class Zygote:
    """A zygote that this process has started."""

    def __init__(self, *options: str, env: dict[str, str] | None = None, temp: str = "") -> None:
        self.temp = temp or tempfile.mkdtemp(prefix="warm-")
        ours, its = socket.socketpair()
        self._errors, errors = os.pipe()
        mark = "zygote-1".ljust(PADDING, ".")
        base = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root"), "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            [python(), str(START), "--program", program(), *options],
            env={**base, **(env or {}), "ANSIBLE_LOCAL_TEMP": self.temp, "TMPDIR": self.temp, "CHARTBOOK_RUN": mark},
            stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=[3],
            preexec_fn=lambda: os.dup2(its.fileno(), 3), close_fds=True)
        its.close()
        os.close(errors)
        self._socket = ours
        self._lines = Lines(ours)
        self._kept: list[dict[str, Any]] = []
        self.ready = self._lines.next()

    def send(self, kind: str, content: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """Sends a message."""
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self._socket.sendmsg([json.dumps({kind: content}).encode() + b"\n"], passed)

    def expect(self, kind: str, run: str) -> dict[str, Any]:
        """Waits for a message about a run. Others are kept."""
        for message in self._kept:
            if kind in message and message[kind]["id"] == run:
                self._kept.remove(message)
                return dict(message[kind])
        while True:
            message = self._lines.next()
            if kind in message and message[kind]["id"] == run:
                return dict(message[kind])
            if not message:
                raise EOFError(self.last_words())
            self._kept.append(message)

    def start(self, name: str, *extra: int) -> Started:
        """Starts a run with further descriptors."""
        ours, its = socket.socketpair()
        pipes = {name: os.pipe() for name in ("stdout", "stderr", "events")}
        writers = [pipe[1] for pipe in pipes.values()]
        self.send("run", {"id": name, "mark": "CHARTBOOK_RUN=" + name}, (its.fileno(), *writers, *extra))
        its.close()
        for fd in writers:
            os.close(fd)
        pid = self.expect("started", name)["pid"]
        return Started(self, name, ours, pid, {name: pipe[0] for name, pipe in pipes.items()})

    def run(self, name: str, *argv: str, env: dict[str, str] | None = None, cwd: str = "/") -> Finished:
        """Runs a playbook."""
        started = self.start(name)
        base = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/root"), "LC_ALL": "C.UTF-8"}
        run_temp = tempfile.mkdtemp(dir=self.temp)
        started.request(list(argv), {**base, "ANSIBLE_LOCAL_TEMP": run_temp, "CHARTBOOK_RUN": name, **(env or {})}, cwd)
        return started.finish()

    def close(self) -> str:
        """Hangs up, and returns what the zygote had to say."""
        self._socket.close()
        self.process.wait(30)
        return self.last_words()

    def last_words(self) -> str:
        """Returns what it wrote to its own outputs until it ended."""
        return read_all(self._errors).decode()
