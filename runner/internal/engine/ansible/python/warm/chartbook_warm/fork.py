"""Starts a module child, reads what it prints and sees that it is gone."""

from __future__ import annotations

import ctypes
import os
import selectors
import shlex
import signal
import subprocess
from typing import NamedTuple, NoReturn

from chartbook_warm import module
from chartbook_warm.adapters.base import Adapter
from chartbook_warm.payload import Payload

_CHUNK = 1 << 20  # bytes of one read
_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_SILENT_SIGNALS = (signal.SIGINT, signal.SIGPIPE)  # shells do not mention these

_libc = ctypes.CDLL(None, use_errno=True)


class Answer(NamedTuple):
    """What a command returns.

    Attributes:
        code: As a shell or subprocess.Popen gives it.
        stdout: All of it.
        stderr: All of it, with the shell's remark when a signal has ended the module.
    """

    code: int
    stdout: bytes
    stderr: bytes


def execute(payload: Payload, adapter: Adapter, folder: bytes | str | None) -> Answer:
    """Runs a module in a fork, in a working directory, and returns once it has ended and its output is closed.

    Whatever interrupts the wait, such as the timeout of a task, ends the module and all that it has started.

    Raises:
        OSError: No process can be started.
    """
    stdout, stdout_end = os.pipe()
    stderr, stderr_end = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
        if pid == 0:
            _child(parent, payload, adapter, folder, stdout_end, stderr_end)
    except BaseException:
        os.close(stdout)
        os.close(stderr)
        raise
    finally:
        os.close(stdout_end)
        os.close(stderr_end)
    payload.started = True
    try:
        texts = _read(stdout, stderr)
        _, status = os.waitpid(pid, 0)
    except BaseException:
        _end(pid)
        raise
    finally:
        os.close(stdout)
        os.close(stderr)
    return _answer(status, texts[stdout], texts[stderr], payload.shells, adapter.shell_stays)


def _child(parent: int, payload: Payload, adapter: Adapter, folder: bytes | str | None, stdout: int,
           stderr: int) -> NoReturn:
    try:
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() == parent:  # else it has ended before that
            module.run(payload, adapter, folder, stdout, stderr)
    finally:
        os._exit(1)


def _read(*fds: int) -> dict[int, bytes]:
    """Reads descriptors side by side until all are at their end."""
    chunks: dict[int, list[bytes]] = {fd: [] for fd in fds}
    with selectors.PollSelector() as selector:
        for fd in fds:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, _CHUNK)
                chunks[key.fd].append(data)
                if not data:
                    selector.unregister(key.fd)
    return {fd: b"".join(parts) for fd, parts in chunks.items()}


def _answer(status: int, stdout: bytes, stderr: bytes, shells: tuple[str, str], shell_stays: bool | None) -> Answer:
    """Returns what the shells around a module make of its end."""
    if not os.WIFSIGNALED(status):
        return Answer(os.WEXITSTATUS(status), stdout, stderr)
    number = os.WTERMSIG(status)
    if not (_waits(*shells) if shell_stays is None else shell_stays):
        return Answer(-number, stdout, stderr)
    if number not in _SILENT_SIGNALS:
        remark = (signal.strsignal(number) or "") + (" (core dumped)" if os.WCOREDUMP(status) else "")
        stderr += os.fsencode(remark + "\n")
    return Answer(128 + number, stdout, stderr)


def _waits(outer: str, inner: str) -> bool:
    """Tells whether one of two shells stays for a single command, as some do, by having such a command killed."""
    command = f"{inner} -c {shlex.quote(inner + ' -c ' + shlex.quote('kill -9 $$'))}"
    killed = subprocess.run([outer, "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, check=False)
    return killed.returncode > 0


def _end(pid: int) -> None:
    """Ends a module child and its descendants, but for those that have left it."""
    try:
        os.kill(pid, signal.SIGSTOP)  # it starts no more
        for other in _descendants(pid):
            try:
                os.kill(other, signal.SIGKILL)
            except OSError:  # gone, or somebody else's
                pass
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def _descendants(pid: int) -> list[int]:
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parents[int(entry)] = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found = [pid]
    for ancestor in found:
        found.extend(child for child, parent in parents.items() if parent == ancestor)
    return found[1:]
