"""Processes of this machine, as /proc shows them."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import NamedTuple


class Process(NamedTuple):
    """One process. With pid, started identifies it."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int  # clock ticks since boot


def read(pid: int) -> Process | None:
    """Returns a process, None if there is none of that id."""
    try:
        fields = stat_fields(str(pid))
    except OSError:
        return None
    return Process(pid, fields[0], int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def stat_fields(pid: str) -> list[str]:
    """Returns what /proc says about a process after its name, which may hold anything: state, parent, group ..."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def everyone() -> list[Process]:
    """Returns all processes, zombies included."""
    found = (read(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in found if process is not None]


def children() -> list[int]:
    """Returns the ids of all children of this process, zombies included."""
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:  # a kernel without that file
        return [process.pid for process in everyone() if process.parent == own]


def of_runs(runs: Mapping[int, bytes]) -> list[Process]:
    """Returns the living processes of some runs: of their sessions and groups, with their marks, and all below those.

    Args:
        runs: Marks, NAME=value, by the process id that leads the run.
    """
    marks = set(runs.values())
    rest = [process for process in everyone() if process.state not in "ZX" and process.pid != os.getpid()]
    found: dict[int, Process] = {}
    for process in rest:
        if {process.pid, process.group, process.session} & set(runs) or not marks.isdisjoint(_environ(process.pid)):
            found[process.pid] = process
    before = -1
    while len(found) != before:
        before = len(found)
        found.update({process.pid: process for process in rest if process.parent in found})
    return list(found.values())


def _environ(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # of another user, or gone
        return []


def send(process: Process, number: int) -> None:
    """Sends a signal to a process, unless its id has gone to another one."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        now = read(process.pid)
        if now is not None and now.started == process.started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass
    finally:
        os.close(handle)
