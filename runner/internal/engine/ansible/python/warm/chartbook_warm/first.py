"""Which version of a module a run executes: the first that it has executed by that dotted name.

Ansible keeps each module that it has built for a process of its own, and takes no notice when the name means another
file later, or the file has changed.
"""

from __future__ import annotations

import os
import tempfile

from . import source
from .source import Source


def version(fqn: str, found: Source) -> Source:
    """Returns what to execute for a dotted name, given what it means now."""
    from ansible import constants

    folder = os.path.join(constants.DEFAULT_LOCAL_TMP, "chartbook_modules")
    entry = os.fsencode(found.path) + b"\0" + found.text
    try:
        kept = _keep(folder, fqn, entry)
    except OSError:  # where nothing can be kept, Ansible itself fails
        return found
    if kept == entry:
        return found
    path, _, text = kept.partition(b"\0")
    return source.compiled(os.fsdecode(path), text)


def _keep(folder: str, name: str, entry: bytes) -> bytes:
    """Keeps an entry unless there is one of that name. Returns the one that is there."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(entry)
            file.flush()
            try:
                os.link(file.name, path)
            except FileExistsError:  # another worker was faster
                pass
    with open(path, "rb") as file:
        return file.read()
