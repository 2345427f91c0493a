"""Makes this process a zygote: imports, and tells what it depends on."""

from __future__ import annotations

import argparse
import gc
import os
import socket
import stat
import sys
from typing import Any

from . import descriptors, environment, hooks, identity, protocol, quiet, settings, system, versions
from .counters import Counters
from .preload import Preload
from .program import NotPlain, Program
from .run import Template
from .server import Server


class Failed(Exception):
    """This process cannot be a zygote.

    Attributes:
        reason: Why, in one word or a few joined by underscores.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Zygote:
    """A zygote in the making."""

    def __init__(self, options: argparse.Namespace, own: frozenset[int]) -> None:
        """Takes the command line, and the descriptors that no run may see."""
        self._options = options
        self._own = own
        self._recorder = environment.Recorder()
        self._counters = Counters()
        self._without_hooks = ""  # why
        self._preload: Preload | None = None
        self._printed = quiet.Printed()

    def start(self) -> Template:
        """Imports everything. Raises Failed."""
        os.chdir(os.path.dirname(os.path.abspath(__file__)))  # a directory without settings for Ansible
        try:
            mark = system.Mark("CHARTBOOK_RUN")
            system.become_subreaper()
            program = Program(self._options.program)
        except (LookupError, OSError) as error:
            raise Failed("platform", str(error)) from error
        except NotPlain as error:
            raise Failed("interpreter", str(error)) from error
        sys.path.insert(0, program.directory())
        with self._recorder:
            try:
                with quiet.capture() as self._printed:
                    _import(program)
            except Failed as failure:
                raise Failed(failure.reason, self._printed.text() or str(failure)) from failure
            with quiet.capture() as noise, quiet.undisturbed():
                self._preload = self._load()
        if noise.text():
            self._preload.notes.append("printed while it was loaded: " + noise.text())
        settings.remove_local_temp()
        self._check()
        gc.collect()
        gc.freeze()  # else the first collection in each fork writes to every object, and has it copy all of this memory
        shared, kept = environment.Shared(self._recorder.consulted()), descriptors.opened() - self._own
        return Template(program, mark, shared, self._printed, kept, settings.Relative(), self._counters)

    def _load(self) -> Preload:
        preload = Preload()
        names = "" if self._options.without_collections else self._options.preload
        preload.load([name for name in names.split(",") if name])
        adapter = versions.choose(_version())
        if isinstance(adapter, versions.Refusal):
            self._without_hooks = adapter.message
        else:
            hooks.install(adapter, self._counters, self._recorder.consulted())
        preload.put_away()
        return preload

    def _check(self) -> None:
        """Makes sure that nothing is there that forks cannot share."""
        threads = len(os.listdir("/proc/self/task"))
        if threads > 1:
            raise Failed("threads", f"what was imported has started {threads - 1} threads")
        sockets = [fd for fd in descriptors.opened() - self._own if stat.S_ISSOCK(os.fstat(fd).st_mode)]
        if sockets:
            raise Failed("sockets", f"what was imported has opened {len(sockets)} sockets")

    def describe(self) -> dict[str, Any]:
        """Returns what the operator has to know to choose runs for it."""
        assert self._preload is not None
        return {
            "protocol": protocol.VERSION,
            "ansible": _version(),
            "python": ".".join(map(str, sys.version_info[:3])),
            "hooks": self._without_hooks,
            "consulted": self._recorder.consulted(),
            "files": identity.stamps(self._options.program, self._preload.modules()),
            "collections": self._preload.places(),
            "notes": self._preload.notes,
        }


def _import(program: Program) -> None:
    """Imports ansible-core, in the way the program does."""
    try:
        program.do_imports()
    except NotPlain as error:
        raise Failed("interpreter", str(error)) from error
    except SystemExit as end:  # with which ansible-core refuses to work
        text = str(end.code)
        raise Failed("locale" if "locale" in text or "encoding" in text else "import", text) from end
    except Exception as error:
        raise Failed("import", f"{type(error).__name__}: {error}") from error


def _version() -> str:
    from ansible import release

    return str(release.__version__)


def main(argv: list[str]) -> int:
    """Is the zygote. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="start.py")
    parser.add_argument("--program", required=True, help="absolute path of ansible-playbook")
    parser.add_argument("--preload", default="", help="names of collections, separated by commas")
    parser.add_argument("--without-collections", action="store_true", help="import no code of collections")
    options = parser.parse_args(argv)
    control = protocol.Control(socket.socket(fileno=descriptors.move_up(protocol.CONTROL_FD)))
    descriptors.reserve()
    zygote = Zygote(options, frozenset({control.fileno()}))
    try:
        template = zygote.start()
    except Failed as failure:
        control.send("failed", {"reason": failure.reason, "message": " ".join(str(failure).split())})
        return 1
    control.send("ready", zygote.describe())
    Server(control, template).serve()
    return 0
