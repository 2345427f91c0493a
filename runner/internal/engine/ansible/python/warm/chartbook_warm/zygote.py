"""Makes this process a zygote: imports, and tells what it depends on."""

from __future__ import annotations

import argparse
import os
import socket
import stat
import sys
from typing import Any

from . import descriptors, environment, fresh, identity, protocol, quiet, system
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
        self._preload = Preload()

    def start(self) -> Template:
        """Imports everything. Raises Failed."""
        os.chdir(os.path.dirname(os.path.abspath(__file__)))  # a directory without settings for Ansible
        try:
            mark = system.Mark("CHARTBOOK_RUN")
            system.become_subreaper()
        except (LookupError, OSError) as error:
            raise Failed("platform", str(error)) from error
        program, printed = self._import()
        fresh.remove_local_temp()
        self._check()
        shared = environment.Shared(self._recorder.consulted())
        return Template(program, mark, shared, printed, descriptors.opened() - self._own)

    def _import(self) -> tuple[Program, quiet.Printed]:
        try:
            program = Program(self._options.program)
        except (NotPlain, OSError) as error:
            raise Failed("interpreter", str(error)) from error
        sys.path.insert(0, program.directory())
        with self._recorder:
            with quiet.capture() as printed:
                try:
                    program.do_imports()
                except NotPlain as error:
                    raise Failed("interpreter", str(error)) from error
                except SystemExit as end:
                    text = str(end.code)
                    raise Failed("locale" if "locale" in text or "encoding" in text else "import", text) from end
                except Exception as error:
                    raise Failed("import", f"{type(error).__name__}: {error}") from error
            with quiet.capture() as noise:
                self._preload.do(self._collections())
        if noise.text():
            self._preload.notes.append("printed while things were imported ahead: " + noise.text())
        return program, printed

    def _collections(self) -> list[str]:
        if self._options.without_collections:
            return []
        return [name for name in self._options.preload.split(",") if name]

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
        from ansible.release import __version__

        return {
            "protocol": protocol.VERSION,
            "ansible": __version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            "hooks": "",
            "consulted": self._recorder.consulted(),
            "files": identity.stamps(self._options.program, self._preload.modules()),
            "collections": self._preload.collections,
            "notes": self._preload.notes,
        }


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
