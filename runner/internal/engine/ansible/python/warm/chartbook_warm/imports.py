"""Finds the shared code that a module needs, so that Ansible can say it if some is missing."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Iterator

# Statements at the beginning of a line. Those further in may be there to be tried.
_STATEMENT = re.compile(
    rb"^(?:from[ \t]+(?P<package>\.*[\w.]*)[ \t]+import[ \t(]+(?P<names>[\w, \t]*)|import[ \t]+(?P<module>[\w.]+))",
    re.MULTILINE,
)
_SHARED = re.compile(r"ansible\.module_utils|ansible_collections\.\w+\.\w+\.plugins\.module_utils")


def missing(text: bytes, fqn: str) -> Iterator[str]:
    """Yields the dotted names of shared code that a module asks for and that is not there.

    Args:
        text: The module.
        fqn: Dotted name of the module, where its relative imports start.
    """
    for match in _STATEMENT.finditer(text):
        name = _absolute((match["package"] or match["module"]).decode(), fqn)
        shared = _SHARED.match(name)
        if not shared:
            continue
        names = [name]
        if match["package"] is not None and shared.end() == len(name):
            names = [f"{name}.{part}" for part in _names(match["names"])]
        for needed in names:
            if not _exists(needed):
                yield needed


def _names(text: bytes) -> Iterator[str]:
    for part in text.decode().split(","):
        words = part.split()
        if words:
            yield words[0]


def _absolute(name: str, fqn: str) -> str:
    relative = name.lstrip(".")
    dots = len(name) - len(relative)
    if not dots:
        return name
    parents = fqn.split(".")[:-dots]
    return ".".join([*parents, relative] if relative else parents)


def _exists(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False
