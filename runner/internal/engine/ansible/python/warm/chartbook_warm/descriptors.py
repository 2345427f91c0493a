"""The numbers of descriptors: a run gets those that a program started for it would have."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable

from .protocol import EVENTS_FD, MAX_EXTRA, RunDescriptors

# FIRST_FREE is the lowest number that nothing of a run is put on.
FIRST_FREE = EVENTS_FD + 1 + MAX_EXTRA


def reserve() -> None:
    """Takes all numbers below FIRST_FREE, so that nothing that is opened later gets one that a run needs."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in range(EVENTS_FD, FIRST_FREE):
        if number != null:
            os.dup2(null, number, inheritable=False)
    if null >= FIRST_FREE:
        os.close(null)


def move_up(fd: int) -> int:
    """Moves a descriptor to a number that no run needs, and returns that."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
    os.close(fd)
    return moved


def opened() -> frozenset[int]:
    """Returns the descriptors that are open, the standard and the reserved ones left out."""
    return frozenset(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd >= FIRST_FREE and _is_open(fd))


def opened_by(act: Callable[[], None]) -> frozenset[int]:
    """Does something and returns the descriptors that it has opened."""
    before = opened()
    act()
    return opened() - before


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:  # that of the directory that was listed
        return False
    return True


def place(fds: RunDescriptors, kept: frozenset[int]) -> None:
    """Gives descriptors of a run their numbers, and closes all others but the run socket and those to be kept."""
    os.dup2(fds.stdout, 1)
    os.dup2(fds.stderr, 2)
    for number, fd in enumerate((fds.events, *fds.extra), EVENTS_FD):
        os.dup2(fd, number)
    os.closerange(EVENTS_FD + 1 + len(fds.extra), FIRST_FREE)
    for fd in opened() - kept - {fds.run}:
        os.close(fd)


def close_in_forks(fd: int) -> None:
    """Closes a descriptor in all forks of this process, and of those only in the first: later it may be another's."""
    still_open = [fd]

    def close() -> None:
        while still_open:
            os.close(still_open.pop())

    os.register_at_fork(after_in_child=close)
