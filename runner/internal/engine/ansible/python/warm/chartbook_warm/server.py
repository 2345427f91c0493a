"""The zygote: one thread that waits for requests and for the end of runs, and forks."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from typing import Any

from . import system
from .program import Program
from .protocol import Control, RunDescriptors
from .run import Run
from .system import Ended, Mark

# GRACE is how long runs may take to end when the operator has gone.
GRACE = 2.0


class Server:
    """Forks runs and tells of their ends."""

    def __init__(self, control: Control, program: Program, mark: Mark) -> None:
        self._control = control
        self._program = program
        self._mark = mark
        self._runs: dict[str, int] = {}  # process ids of runs that are not reaped
        self._ended: set[str] = set()
        self._stopping = False
        self._wake_up, self._wake_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def serve(self) -> None:
        """Works until it is told to stop, or the operator has gone."""
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)
        while self._runs or not self._stopping:
            readable, _, _ = select.select([self._control, self._wake_up], [], [])
            if self._wake_up in readable:
                os.read(self._wake_up, 4096)
            self._collect()
            if self._control in readable:
                messages = self._control.receive()
                if messages is None:
                    break
                for kind, content in messages:
                    self._handle(kind, content)
        self._end_all()

    def _handle(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "run":
            self._start(content["id"], content["mark"])
        elif kind == "reap":
            self._reap(content["id"])
        elif kind == "stop":
            self._stopping = True

    def _start(self, run: str, mark: str) -> None:
        passed = self._control.descriptors()
        try:
            fds = RunDescriptors.of(passed)
            if self._stopping:
                raise RuntimeError("it is stopping")
            if len(os.listdir("/proc/self/task")) > 1:
                raise RuntimeError(f"there are {threading.active_count()} threads")
            pid = self._fork(fds, mark.encode("utf-8", "surrogateescape"))
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._control.send("refused", {"id": run, "message": str(error)})
            return
        finally:
            for fd in passed:
                os.close(fd)
        self._runs[run] = pid
        self._control.send("started", {"id": run, "pid": pid})

    def _fork(self, fds: RunDescriptors, mark: bytes) -> int:
        """Forks a run process and waits until it can be found and ended."""
        begun, begins = os.pipe2(os.O_CLOEXEC)
        try:
            pid = os.fork()
            if pid == 0:
                process = Run(self._program, fds)
                process.begin(self._mark, mark)
                os.close(begins)
                process.live()
        finally:
            os.close(begins)
            os.read(begun, 1)
            os.close(begun)
        return pid

    def _collect(self) -> None:
        """Tells of runs that have ended, and reaps orphans."""
        for run, pid in self._runs.items():
            if run not in self._ended:
                end = system.look_at_end(pid)
                if end is not None:
                    self._ended.add(run)
                    self._report(run, end)
        known = set(self._runs.values())
        for pid in system.children():
            if pid not in known:
                os.waitpid(pid, os.WNOHANG)

    def _report(self, run: str, end: Ended) -> None:
        self._control.send("ended", {"id": run, **end._asdict()})

    def _reap(self, run: str) -> None:
        pid = self._runs.pop(run, 0)
        self._ended.discard(run)
        if pid:
            os.waitpid(pid, 0)

    def _end_all(self) -> None:
        """Ends the runs that are left."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._runs.values():
                os.killpg(pid, number)
            time.sleep(GRACE if self._runs else 0)
