"""Keeps what is imported ahead from changing the process that all runs come from."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Undoes what code that is imported meanwhile does to the working directory, the umask and the handlers of signals."""
    folder, mask = os.getcwd(), os.umask(0o077)
    os.umask(mask)
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}}
    try:
        yield
    finally:
        os.chdir(folder)
        os.umask(mask)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) != handler:  # None: not one that Python can set
                signal.signal(number, handler)
