"""Counts how the modules of one run were executed, over all of the run's processes."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import tempfile

FORKED = "forked"

# Why a module took Ansible's own path. The list is closed: each name is a label of a metric.
REASONS = (
    "connection",  # not the builtin local connection
    "become",
    "async",
    "keep_remote_files",
    "not_found",  # no such module; Ansible says it best
    "not_python",  # binary, PowerShell, another language, another file name ending, or no valid syntax
    "old_style",
    "interpreter",  # another Python than this one
    "interpreter_arguments",
    "discovery",  # the interpreter is not known yet
    "executable",  # a shell that is not one of the usual
    "debugger",  # or coverage
    "file_limit",
    "module_utils",  # beside the playbook or in a role, or missing
    "environment",  # of the task, with names that a started process must not see changed
    "respawn",  # the module may start itself once more with another interpreter
    "profile",  # the module chooses how its arguments are encoded
    "overridden",  # an action plugin has one of the methods of its own
    "arguments",  # cannot be encoded; Ansible says it best
    "no_payload",  # Ansible did not get as far as to execute the module
    "disabled",
    "fault",  # of this program
)

NAMES = (FORKED, *REASONS)
_INDEX = {name: index for index, name in enumerate(NAMES)}
_COUNT = struct.Struct("=Q")
_SIZE = _COUNT.size * len(NAMES)


class Counters:
    """64-bit counts in memory that a process and all its forks share; without fresh() nothing is counted."""

    def __init__(self) -> None:
        self._fd = -1
        self._memory: mmap.mmap | None = None

    def fresh(self) -> None:
        """Begins at zero, in memory that is shared with later forks and with nobody else."""
        fd = _anonymous_file()
        os.ftruncate(fd, _SIZE)
        self._memory = mmap.mmap(fd, _SIZE)
        self._fd = fd

    def add(self, name: str) -> None:
        """Adds one to a name of NAMES."""
        if self._memory is None:
            return
        offset = _INDEX[name] * _COUNT.size
        # A record lock, because it goes when its process does: a semaphore of a killed worker would block all others.
        fcntl.lockf(self._fd, fcntl.LOCK_EX, _COUNT.size, offset)
        try:
            (count,) = _COUNT.unpack_from(self._memory, offset)
            _COUNT.pack_into(self._memory, offset, count + 1)
        finally:
            fcntl.lockf(self._fd, fcntl.LOCK_UN, _COUNT.size, offset)

    def as_dict(self) -> dict[str, int]:
        """Returns the counts that are not zero, by name."""
        if self._memory is None:
            return {}
        counts = {name: int(_COUNT.unpack_from(self._memory, _INDEX[name] * _COUNT.size)[0]) for name in NAMES}
        return {name: count for name, count in counts.items() if count}


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        try:
            return os.memfd_create("chartbook-counters", os.MFD_CLOEXEC)
        except OSError:  # forbidden by a sandbox
            pass
    fd, path = tempfile.mkstemp(prefix="chartbook-counters-")
    os.unlink(path)
    return fd
