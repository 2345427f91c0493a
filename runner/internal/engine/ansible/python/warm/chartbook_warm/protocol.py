"""What the operator and the warm executor say to each other: JSON objects, one a line, and passed descriptors.

On the control socket, which the zygote has as descriptor 3:

    zygote   {"ready": {...}}, see server.Ready, or {"failed": {"reason", "message"}}, once
    operator {"run": {"id", "mark"}} with the descriptors of RunDescriptors
    zygote   {"started": {"id", "pid"}} or {"refused": {"id", "message"}}
    zygote   {"ended": {"id", "code", "signal", "cpu_us", "max_rss_kb"}}; code is -1 when a signal ended the run
    operator {"reap": {"id"}}: nothing of the run is left to be signalled, its process id may be given away
    operator {"stop": {}}: no further runs; the zygote ends when the last one is reaped

On the run socket, of which there is one per run:

    operator {"argv": [...], "env": {...}, "cwd": "...", "fds": [...], "files": {...}}; see memory.serve for the files
    run      {"final": {"code", "modules"}}, or {"declined": {"message"}} first when nothing was done

Text that is no UTF-8 travels as Python has it, each byte above 127 as a lone surrogate (\\udc80 to \\udcff).
"""

from __future__ import annotations

import array
import json
import socket
from collections import deque
from typing import Any, NamedTuple

VERSION = 1

CONTROL_FD = 3

# Descriptors that a run has besides the standard ones: of the events, and from there on the extra ones.
EVENTS_FD = 3

# MAX_EXTRA is how many descriptors a run may get beyond that of the events.
MAX_EXTRA = 12

_FIXED = 4  # run socket, stdout, stderr, events
_CHUNK = 64 << 10


class ProtocolError(Exception):
    """The other side does not keep to the protocol."""


class RunDescriptors(NamedTuple):
    """The descriptors that come with a request for a run, in their order."""

    run: int
    stdout: int
    stderr: int
    events: int
    extra: tuple[int, ...]

    @classmethod
    def of(cls, fds: list[int]) -> RunDescriptors:
        """Names passed descriptors. Raises ProtocolError unless there are enough and not too many."""
        if not _FIXED <= len(fds) <= _FIXED + MAX_EXTRA:
            raise ProtocolError(f"{len(fds)} descriptors came with a run")
        return cls(fds[0], fds[1], fds[2], fds[3], tuple(fds[_FIXED:]))

    def all(self) -> tuple[int, ...]:
        """Returns them as they came."""
        return (self.run, self.stdout, self.stderr, self.events, *self.extra)


class Control:
    """The zygote's end of the control socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""
        self._passed: deque[list[int]] = deque()  # one group for each run whose message is still to be taken

    def fileno(self) -> int:
        """Returns the descriptor, to wait for."""
        return self._socket.fileno()

    def send(self, kind: str, content: dict[str, Any]) -> None:
        """Sends one message. Raises OSError when nobody is there to read it."""
        self._socket.sendall(encode({kind: content}))

    def receive(self) -> list[tuple[str, dict[str, Any]]] | None:
        """Returns the messages that have come, kind and content each; None when the operator is gone."""
        space = socket.CMSG_LEN((_FIXED + MAX_EXTRA) * array.array("i").itemsize)
        try:
            data, ancillary, _, _ = self._socket.recvmsg(_CHUNK, space, socket.MSG_CMSG_CLOEXEC)
        except ConnectionError:
            return None
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
                self._passed.append(list(fds))
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [decode(line) for line in lines]

    def descriptors(self) -> list[int]:
        """Takes the descriptors that came with the first run that has not taken its own yet."""
        return self._passed.popleft() if self._passed else []

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()


def encode(message: dict[str, Any]) -> bytes:
    """Returns a message as a line."""
    return json.dumps(message).encode("ascii") + b"\n"


def decode(line: bytes) -> tuple[str, dict[str, Any]]:
    """Returns kind and content of a message of the control socket."""
    try:
        (kind, content), = json.loads(line).items()
    except (ValueError, AttributeError) as error:
        raise ProtocolError(f"no message: {line[:200]!r}") from error
    if not isinstance(content, dict):
        raise ProtocolError(f"no content: {line[:200]!r}")
    return kind, content
