"""Processes of this machine, for tests."""

from __future__ import annotations

import os


def marked(run: str) -> list[int]:
    """Returns the ids of the living processes that carry a run's mark where everybody can read it."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/environ", "rb") as environ:
                if name.isdigit() and f"CHARTBOOK_RUN={run}".encode() in environ.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return found


def stat(pid: int) -> list[str]:
    """Returns what /proc says about a process: state, parent, group, session ..."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def alive(pid: int) -> bool:
    """Tells whether there is a process, zombies not counted."""
    try:
        return stat(pid)[0] not in "ZX"
    except OSError:
        return False


def below(pid: int) -> list[int]:
    """Returns the children of a process, zombies included."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and stat(int(name))[1] == str(pid):
                found.append(int(name))
        except OSError:
            pass
    return found
