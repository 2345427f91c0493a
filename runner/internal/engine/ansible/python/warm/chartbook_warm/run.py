"""What a run process does between the fork and its end."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, NamedTuple, NoReturn

from . import clients, descriptors, environment, memory, protocol, settings
from .counters import Counters
from .program import Program
from .protocol import RunDescriptors
from .quiet import Printed
from .system import Mark

EXIT_FAULT = 250  # what ansible-core says of a fault of its own
_EXIT_FLUSH = 120  # what Python says when the end of the output cannot be written


class Template(NamedTuple):
    """What all runs of a zygote have in common."""

    program: Program
    mark: Mark
    shared: environment.Shared
    printed: Printed  # what a fresh process prints before it comes to the program's main part
    kept: frozenset[int]  # descriptors of what was imported
    relative: settings.Relative
    counters: Counters  # of how modules are executed


class Declined(Exception):
    """The run does not fit the zygote, which whoever sent it should have known. Nothing has been done."""


class Run:
    """One run, in the process that is its own."""

    def __init__(self, template: Template, fds: RunDescriptors) -> None:
        self._template = template
        self._fds = fds

    def begin(self, mark: bytes) -> None:
        """Makes this process one that can be found and ended: leader of a session, marked, with signals as usual."""
        os.setsid()
        self._template.mark.overwrite(mark)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def live(self) -> NoReturn:
        """Runs the program and ends the process."""
        code = EXIT_FAULT
        try:
            kept = self._template.kept | descriptors.opened_by(self._template.counters.fresh)
            descriptors.place(self._fds, kept)
            descriptors.close_in_forks(self._fds.run)
            argv = self._prepare(receive(self._fds.run))
            self._template.printed.repeat()
            code = self._call(argv)
        except Declined as error:
            self._send({"declined": {"message": str(error)}})
        except BaseException as error:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            if isinstance(error, KeyboardInterrupt):
                code = -signal.SIGINT
        self._leave(code)

    def _prepare(self, request: dict[str, Any]) -> list[str]:
        """Makes the process look like one that was started for the request. Returns the program's arguments."""
        env = request["env"]
        differences = self._template.shared.differences(env)
        if differences:
            raise Declined("these variables had other values when everything was imported: " + ", ".join(differences))
        environment.replace(env)
        time.tzset()
        os.chdir(request["cwd"])
        tempfile.tempdir = None
        clients.reset()
        self._template.relative.move()
        settings.renew()
        memory.serve(request.get("files", {}))
        argv = request["argv"][1:]
        assert isinstance(argv, list)
        return argv

    def _call(self, argv: list[str]) -> int:
        """Runs the program. Returns its exit code as Python would have it, -2 for an interrupt that it leaves to Python."""
        try:
            self._template.program.run(argv)
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                return (end.code or 0) & 0xFF
            print(end.code, file=sys.stderr)
            return 1
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self._template.program.print_exception(error)
            return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
        return 0

    def _leave(self, code: int) -> NoReturn:
        """Ends the process as Python does, but for taking everything apart."""
        try:
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        except BaseException:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
        for file in (sys.stdout, sys.stderr):
            try:
                file.flush()
            except (OSError, ValueError):
                code = _EXIT_FLUSH
        self._send({"final": {"code": code, "modules": self._template.counters.as_dict()}})
        if code == -signal.SIGINT:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        os._exit(code)

    def _send(self, message: dict[str, Any]) -> None:
        line = protocol.encode(message)
        try:
            while line:
                line = line[os.write(self._fds.run, line):]
        except OSError:  # nobody is there to read it
            pass


def receive(fd: int) -> dict[str, Any]:
    """Returns the request that comes on a run socket. Raises EOFError if it is not complete."""
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        parts.append(os.read(fd, 1 << 20))
        if not parts[-1]:
            raise EOFError("no request came for this run")
    request = json.loads(b"".join(parts))
    if not isinstance(request, dict):
        raise protocol.ProtocolError("the request for this run is no object")
    return request
