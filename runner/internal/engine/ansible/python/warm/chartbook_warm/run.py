"""What a run process does between the fork and its end."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, NoReturn

from . import environment, protocol
from .program import Program
from .protocol import EVENTS_FD, RunDescriptors
from .system import Mark

EXIT_BROKEN = 250  # what ansible-core says of a fault of its own


class Run:
    """One run, in the process that is its own."""

    def __init__(self, program: Program, fds: RunDescriptors) -> None:
        self._program = program
        self._fds = fds
        self._socket = -1

    def begin(self, mark: Mark, entry: bytes) -> None:
        """Makes this process one that can be found and ended: leader of a session, marked, with signals as usual."""
        os.setsid()
        mark.overwrite(entry)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def live(self) -> NoReturn:
        """Runs the program and ends the process."""
        code = EXIT_BROKEN
        try:
            self._place()
            request = self._receive()
            self._prepare(request)
            code = self._call(request["argv"][1:])
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
        finally:
            self._leave(code)

    def _place(self) -> None:
        """Gives the descriptors their numbers and closes all others."""
        self._socket = os.dup(self._fds.run)
        os.set_inheritable(self._socket, False)
        for fd, number in ((self._fds.stdout, 1), (self._fds.stderr, 2), (self._fds.events, EVENTS_FD)):
            os.dup2(fd, number)
        for i, fd in enumerate(self._fds.extra):
            os.dup2(fd, EVENTS_FD + 1 + i)
        first_free = EVENTS_FD + 1 + len(self._fds.extra)
        os.closerange(first_free, self._socket)
        os.closerange(self._socket + 1, 1 << 16)
        os.register_at_fork(after_in_child=lambda: os.close(self._socket))

    def _receive(self) -> dict[str, Any]:
        parts = []
        while not parts or not parts[-1].endswith(b"\n"):
            parts.append(os.read(self._socket, 1 << 20))
            if not parts[-1]:
                os._exit(EXIT_BROKEN)
        request = json.loads(b"".join(parts))
        assert isinstance(request, dict)
        return request

    def _prepare(self, request: dict[str, Any]) -> None:
        environment.replace(request["env"])
        time.tzset()
        tempfile.tempdir = None
        os.chdir(request["cwd"])

    def _call(self, argv: list[str]) -> int:
        try:
            self._program.run(argv)
        except SystemExit as end:
            if end.code is None:
                return 0
            if isinstance(end.code, int):
                return end.code & 0xFF
            print(end.code, file=sys.stderr)
            return 1
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            return 1
        return 0

    def _leave(self, code: int) -> NoReturn:
        import atexit  # pylint: disable=import-outside-toplevel
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            os.write(self._socket, protocol.encode({"final": {"code": code, "modules": {}}}))
        except OSError:
            pass
        gc.disable()
        os._exit(code)
