"""Has a run wait for what its workers do instead of looking for it thousands of times a second.

Ansible's main process looks for results, sleeps for a millisecond and looks again, which costs some fifty microseconds
each time. Before a task it looks every tenth of a millisecond whether the worker before has ended. So these two sleeps
end as soon as there is a result or a worker has ended, and are longer.
"""

from __future__ import annotations

import functools
import multiprocessing.connection
import threading
import time
import types
from collections import deque
from typing import Any

# How long the two sleeps may take, in seconds. A worker that has died is noticed without a result, and one that has left
# something behind which keeps its sentinel open without that.
FOR_RESULTS = 0.02
FOR_WORKERS = 0.001

_BETWEEN_WORKERS = 0.0001  # seconds; in ansible-core it has no name


class _Results(deque):  # type: ignore[type-arg]
    """The results that a strategy has still to look at."""

    def __init__(self, arrived: threading.Event) -> None:
        super().__init__()
        self._arrived = arrived

    def append(self, result: Any) -> None:
        super().append(result)
        self._arrived.set()


class _Time(types.ModuleType):
    """The time module, but for the two sleeps."""

    def __init__(self, arrived: threading.Event) -> None:
        super().__init__("time")
        self._arrived = arrived

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def sleep(self, seconds: float) -> None:
        """Waits for what Ansible wants to look at after this sleep, else as long as it is told to."""
        from ansible import constants

        if seconds == _BETWEEN_WORKERS:
            multiprocessing.connection.wait([child.sentinel for child in multiprocessing.active_children()], FOR_WORKERS)
        elif seconds == constants.DEFAULT_INTERNAL_POLL_INTERVAL and seconds < FOR_RESULTS:
            self._arrived.wait(FOR_RESULTS)
            self._arrived.clear()
        else:
            time.sleep(seconds)


def install() -> None:
    """Changes this process and all its forks, if this ansible-core waits in that way."""
    from ansible.plugins import strategy

    base: Any = strategy.StrategyBase
    if getattr(strategy, "time", None) is not time or "_wait_on_pending_results" not in vars(base):
        return
    arrived = threading.Event()
    original = base.__init__

    @functools.wraps(original)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if type(getattr(self, "_results", None)) is deque and not self._results:
            self._results = _Results(arrived)

    base.__init__ = initialize
    setattr(strategy, "time", _Time(arrived))
