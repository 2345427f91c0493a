"""Keeps what is imported ahead from leaving traces in what a run prints."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any


class Printed:
    """What was printed while it was captured: on standard output and on standard error."""

    def __init__(self) -> None:
        self.stdout = b""
        self.stderr = b""

    def repeat(self) -> None:
        """Prints it once more."""
        for fd, text in ((1, self.stdout), (2, self.stderr)):
            while text:
                text = text[os.write(fd, text):]

    def text(self) -> str:
        """Returns all of it."""
        return (self.stdout + self.stderr).decode("utf-8", "replace").strip()


@contextlib.contextmanager
def capture() -> Iterator[Printed]:
    """Captures what this process writes to its descriptors 1 and 2."""
    printed = Printed()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            yield printed
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for fd, number in zip(saved, (1, 2)):
                os.dup2(fd, number)
                os.close(fd)
            for file in (out, err):
                file.seek(0)
            printed.stdout, printed.stderr = out.read(), err.read()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Makes Ansible forget which warnings it has printed, and which settings it has found to be deprecated."""
    from ansible import constants
    from ansible.utils.display import Display

    display = Display()
    memories: list[Any] = [getattr(display, name, None) for name in ("_deprecations", "_warns", "_errors")]
    memories += [getattr(constants.config, name, None) for name in ("DEPRECATED", "WARNINGS")]
    memories = [memory for memory in memories if isinstance(memory, (dict, list, set))]
    before = [memory.copy() for memory in memories]
    try:
        yield
    finally:
        for memory, content in zip(memories, before):
            memory.clear()
            getattr(memory, "extend" if isinstance(memory, list) else "update")(content)
