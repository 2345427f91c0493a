"""Reads and compiles module files, once per content."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import os
import types
from typing import Any


@dataclasses.dataclass(frozen=True)
class Source:
    """One version of a module file.

    Attributes:
        path: Absolute path.
        text: Content of the file, undecoded.
        code: Compiled text; None for what is no valid Python.
    """

    path: str
    text: bytes
    code: types.CodeType | None


class _Loader(importlib.machinery.SourceFileLoader):
    """Uses compiled files that lie about, but leaves none behind in users' folders."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Writes nothing."""


_cache: dict[str, tuple[tuple[int, int, int], Source]] = {}


def load(path: str) -> Source:
    """Returns a module file with its code. What is cached in a process is there in its forks.

    Raises:
        OSError: The file cannot be read.
    """
    status = os.stat(path)
    key = (status.st_mtime_ns, status.st_size, status.st_ino)
    known = _cache.get(path)
    if known and known[0] == key:
        return known[1]
    with open(path, "rb") as file:
        text = file.read()
    source = Source(path, text, _compile(path, text))
    _cache[path] = key, source
    return source


def _compile(path: str, text: bytes) -> types.CodeType | None:
    loader = _Loader("chartbook_module", path)
    try:
        code = loader.get_code("chartbook_module")
    except SyntaxError:
        return None
    except (ImportError, OSError, EOFError, TypeError, ValueError):  # of a compiled file that cannot be used
        code = None
    try:
        return code or compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
