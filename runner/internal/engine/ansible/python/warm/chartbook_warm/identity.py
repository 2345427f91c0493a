"""The files and directories that what is imported depends on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any


def stamps(program: str, modules: Iterable[Any]) -> list[tuple[str, int, int, int]]:
    """Returns the state of all that a run must find unchanged.

    Args:
        program: Path of ansible-playbook.
        modules: What has been imported. Of an installed package its directory counts, which installing and removing
            changes; of anything else each file.
    """
    paths = {os.path.realpath(sys.executable), program, *sys.path, *_settings(), *_code(modules)}
    return [stamp(path) for path in sorted(paths) if os.path.isabs(path)]


def stamp(path: str) -> tuple[str, int, int, int]:
    """Returns the state of one file or directory."""
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, -1, 0
    return path, status.st_mtime_ns, status.st_size, status.st_ino


def _settings() -> Iterator[str]:
    """Yields files and directories that Ansible has looked for, whether or not they are there."""
    from ansible import constants
    from ansible.plugins import loader

    yield constants.CONFIG_FILE or ""
    yield os.environ.get("ANSIBLE_CONFIG", "")
    yield os.path.expanduser("~/.ansible.cfg")
    yield "/etc/ansible/ansible.cfg"
    yield constants.PLUGIN_FILTERS_CFG or "/etc/ansible/plugin_filters.yml"
    for place in [*constants.COLLECTIONS_PATHS, *sys.path]:
        yield os.path.join(os.path.expanduser(place), "ansible_collections")
    for _, found in loader.get_all_plugin_loaders():
        for context in found._paths or []:  # where it has looked already
            if not context.internal and not os.path.isdir(context.path):
                yield context.path


def _code(modules: Iterable[Any]) -> Iterator[str]:
    roots = [path + os.sep for path in sys.path if os.path.isabs(path)]
    standard = os.path.dirname(os.__file__) + os.sep
    for module in modules:
        path = getattr(module, "__file__", None)
        if not isinstance(path, str) or not os.path.isabs(path):
            continue
        root = max((root for root in roots if path.startswith(root)), key=len, default="")
        if not root or "ansible_collections" in path:
            yield path
        elif not root.startswith(standard) or "-packages" in root:  # the rest comes with the interpreter
            yield os.path.join(root, path[len(root):].split(os.sep)[0])
