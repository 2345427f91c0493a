"""What the warm executor asks of Linux that Python has no call for."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import NamedTuple

from . import processes

_LIBC = ctypes.CDLL(None, use_errno=True)

_PR_SET_CHILD_SUBREAPER = 36
_WAITID = {"x86_64": 247}.get(platform.machine(), 95)  # the number of newer architectures, arm64 among them
_P_PID = 1


class Ended(NamedTuple):
    """How a process ended."""

    code: int  # -1 when a signal ended it
    signal: int
    cpu_us: int  # of the process and all descendants that were waited for
    max_rss_kb: int


class _Timeval(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long)]

    def in_microseconds(self) -> int:
        """Returns the length of time."""
        return int(self.seconds) * 1_000_000 + int(self.microseconds)


class _Usage(ctypes.Structure):
    _fields_ = [("user", _Timeval), ("system", _Timeval), ("max_rss_kb", ctypes.c_long), ("rest", ctypes.c_long * 13)]


def become_subreaper() -> None:
    """Makes the orphans of the children those of this process, instead of process 1."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "become a subreaper")


def look_at_end(pid: int) -> Ended | None:
    """Returns how a child ended, None if it has not. The child stays a zombie."""
    seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if seen is None:
        return None
    usage = _Usage()
    _LIBC.syscall(_WAITID, _P_PID, pid, None, os.WEXITED | os.WNOHANG | os.WNOWAIT, ctypes.byref(usage))
    exited = seen.si_code == os.CLD_EXITED
    return Ended(
        code=seen.si_status if exited else -1,
        signal=0 if exited else seen.si_status,
        cpu_us=usage.user.in_microseconds() + usage.system.in_microseconds(),
        max_rss_kb=int(usage.max_rss_kb),
    )


class Mark:
    """The place in this process' memory where the kernel looks for one variable of its environment.

    What /proc/PID/environ shows of a process is what it was started with. A fork that never starts a program can only
    be told from its siblings there if that text is overwritten in place.
    """

    _ENV_START = 47  # of processes.stat_fields; its end comes next

    def __init__(self, name: str) -> None:
        """Finds the variable. Raises LookupError if this process was not started with it."""
        start, end = (int(field) for field in processes.stat_fields("self")[self._ENV_START:self._ENV_START + 2])
        entry = b"\0" + name.encode("ascii") + b"="
        text = b"\0" + ctypes.string_at(start, end - start)
        at = text.find(entry)
        if at < 0:
            raise LookupError(f"this process was started without {name}")
        self._address = start + at
        self.size = text.index(b"\0", at + 1) - at - 1  # bytes, the name included

    def overwrite(self, entry: bytes) -> None:
        """Puts another NAME=value in its place. Raises ValueError if that is longer than what was there."""
        if len(entry) > self.size:
            raise ValueError(f"a mark of {len(entry)} bytes does not fit into {self.size}")
        ctypes.memmove(self._address, entry.ljust(self.size, b"\0"), self.size)
