"""The zygote's work: it waits for requests and for the end of runs, and forks."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Any

from . import processes, system
from .protocol import Control, ProtocolError, RunDescriptors
from .run import EXIT_FAULT, Run, Template

# GRACE is how long runs may take to end when the operator has gone, in seconds.
GRACE = 2.0

_LOOK_AGAIN = 0.05  # seconds between two looks for processes that have been told to end


class Refused(Exception):
    """A run cannot be started."""


class Forked:
    """A run whose process has not been reaped."""

    def __init__(self, pid: int, mark: bytes) -> None:
        self.pid = pid
        self.mark = mark
        self.ended = False


class Server:
    """Forks runs and tells of their ends."""

    def __init__(self, control: Control, template: Template) -> None:
        self._control = control
        self._template = template
        self._runs: dict[str, Forked] = {}  # by id
        self._stopping = False
        self._wake_up, self._wake_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def serve(self) -> None:
        """Works until it is told to stop, or the operator has gone."""
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_end, warn_on_full_buffer=False)
        try:
            while self._runs or not self._stopping:
                if not self._step():
                    break
        except ConnectionError:
            pass
        finally:
            self._end_runs()

    def _step(self) -> bool:
        """Waits for something to happen and deals with it. Returns False when the operator has gone."""
        readable, _, _ = select.select([self._control, self._wake_up], [], [])
        if self._wake_up in readable:
            os.read(self._wake_up, 4096)
            self._collect()
        if self._control in readable:
            messages = self._control.receive()
            if messages is None:
                return False
            for kind, content in messages:
                self._handle(kind, content)
        return True

    def _handle(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "run":
            self._start(content["id"], content["mark"].encode("utf-8", "surrogateescape"))
        elif kind == "reap":
            self._reap(content["id"])
        elif kind == "stop":
            self._stopping = True

    def _start(self, run: str, mark: bytes) -> None:
        passed = self._control.descriptors()
        try:
            self._check(run, mark)
            pid = self._fork(RunDescriptors.of(passed), mark)
        except (Refused, ProtocolError, OSError) as error:
            self._control.send("refused", {"id": run, "message": str(error)})
            return
        finally:
            for fd in passed:
                os.close(fd)
        self._runs[run] = Forked(pid, mark)
        self._control.send("started", {"id": run, "pid": pid})

    def _check(self, run: str, mark: bytes) -> None:
        if self._stopping:
            raise Refused("this zygote has been told to stop")
        if run in self._runs:
            raise Refused("there is a run of that id")
        if len(mark) > self._template.mark.size:
            raise Refused(f"its mark is longer than {self._template.mark.size} bytes")
        threads = len(os.listdir("/proc/self/task"))
        if threads > 1:
            raise Refused(f"this zygote has {threads} threads, which do not survive a fork")

    def _fork(self, fds: RunDescriptors, mark: bytes) -> int:
        """Forks a run process and waits until it can be found and ended."""
        begun, begins = os.pipe2(os.O_CLOEXEC)
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    run = Run(self._template, fds)
                    run.begin(mark)
                    os.close(begins)
                    run.live()
                finally:
                    os._exit(EXIT_FAULT)
        finally:
            os.close(begins)
            os.read(begun, 1)
            os.close(begun)
        return pid

    def _collect(self) -> None:
        """Tells of runs that have ended, and reaps orphans."""
        for name, run in self._runs.items():
            end = None if run.ended else system.look_at_end(run.pid)
            if end is not None:
                run.ended = True
                self._control.send("ended", {"id": name, **end._asdict()})
        own = {run.pid for run in self._runs.values()}
        for pid in processes.children():
            if pid not in own:
                os.waitpid(pid, os.WNOHANG)

    def _reap(self, name: str) -> None:
        run = self._runs.pop(name, None)
        if run is not None:
            os.waitpid(run.pid, 0)

    def _end_runs(self) -> None:
        """Ends the runs that are left, with all that they have started."""
        left = {run.pid: run.mark for run in self._runs.values() if system.look_at_end(run.pid) is None}
        deadline = time.monotonic() + GRACE
        told: set[processes.Process] = set()
        while left:
            family = processes.of_runs(left)
            if not family:
                break
            late = time.monotonic() > deadline
            for process in family:
                if late or process not in told:
                    processes.send(process, signal.SIGKILL if late else signal.SIGTERM)
            told.update(family)
            time.sleep(_LOOK_AGAIN)
