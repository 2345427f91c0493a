"""Runs playbooks in forks of a process that has ansible-core imported already.

Words used throughout:

zygote          the process that start.py becomes: one thread, everything imported, runs no playbook itself
run process     its fork that runs one playbook, by running the program ansible-playbook from its beginning
worker          a fork that ansible-core makes of the run process, per host and task
module child    a fork of a worker that executes a module's source in what is imported already
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

from . import environment, preload, protocol, system
from .program import NotPlain, Program
from .server import Server


def main(argv: list[str]) -> int:
    """Is the zygote. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="start.py")
    parser.add_argument("--program", required=True)
    parser.add_argument("--preload", default="")
    parser.add_argument("--without-collections", action="store_true")
    options = parser.parse_args(argv)
    fd = os.dup(protocol.CONTROL_FD)
    os.set_inheritable(fd, False)
    os.close(protocol.CONTROL_FD)
    control = protocol.Control(socket.socket(fileno=fd))
    try:
        mark = system.Mark("CHARTBOOK_RUN")
        system.become_subreaper()
        program = Program(options.program)
        sys.path[:0] = [program.directory()]
        with environment.Recorder() as recorder:
            program.do_imports()
            preload.preload(options.preload.split(","))
        import ansible.release  # pylint: disable=import-outside-toplevel
    except (NotPlain, OSError) as error:
        control.send("failed", {"reason": "interpreter", "message": str(error)})
        return 1
    control.send("ready", {
        "protocol": protocol.VERSION,
        "ansible": ansible.release.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "hooks": "",
        "consulted": recorder.consulted(),
        "files": [],
        "collections": {},
        "notes": [],
    })
    Server(control, program, mark).serve()
    return 0
