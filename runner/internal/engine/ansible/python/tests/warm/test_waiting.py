"""Tests of how a run waits for its workers."""

from __future__ import annotations

import multiprocessing
import pathlib
import sys
import threading
import time
import types
import unittest
from typing import Any
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "warm"))

from chartbook_warm import waiting  # noqa: E402  pylint: disable=wrong-import-position

LONG = 10.0  # seconds that no test waits for


class WaitingTest(unittest.TestCase):
    """Looks at the sleeps of the main process, made so long that only what they wait for ends them."""

    def setUp(self) -> None:
        from ansible.plugins import strategy  # pylint: disable=import-outside-toplevel

        self.strategy: Any = strategy
        for name, value in (("FOR_RESULTS", LONG), ("FOR_WORKERS", LONG)):
            patch = mock.patch.object(waiting, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(setattr, strategy, "time", time)
        self.addCleanup(setattr, strategy.StrategyBase, "__init__", strategy.StrategyBase.__init__)

    def timed(self, seconds: float) -> float:
        """Returns how long a sleep takes."""
        begun = time.monotonic()
        self.strategy.time.sleep(seconds)
        return time.monotonic() - begun

    def test_a_result_ends_the_sleep(self) -> None:
        """Whether it comes before the sleep or during it."""
        from ansible import constants  # pylint: disable=import-outside-toplevel

        with mock.patch.object(self.strategy.StrategyBase, "__init__", _initialize):
            waiting.install()
            one = self.strategy.StrategyBase()
            one._results.append("first")
            self.assertLess(self.timed(constants.DEFAULT_INTERNAL_POLL_INTERVAL), LONG)
            timer = threading.Timer(0.05, one._results.append, ["second"])
            timer.start()
            self.assertLess(self.timed(constants.DEFAULT_INTERNAL_POLL_INTERVAL), LONG)
            timer.join()
        self.assertEqual((one._results.popleft(), one._results.popleft(), len(one._results)), ("first", "second", 0))

    def test_the_end_of_a_worker_ends_the_sleep(self) -> None:
        """Without anyone having waited for it."""
        waiting.install()
        worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(0.05,))
        worker.start()
        self.assertLess(self.timed(0.0001), LONG)
        worker.join(LONG)
        self.assertEqual(0, worker.exitcode)

    def test_other_sleeps_are_as_long_as_they_are(self) -> None:
        """And the rest of the module is as it was."""
        waiting.install()
        self.assertGreaterEqual(self.timed(0.05), 0.05)
        self.assertIs(self.strategy.time.monotonic, time.monotonic)

    def test_another_ansible_is_left_alone(self) -> None:
        """One that does not wait in this way."""
        with mock.patch.object(self.strategy, "time", types.ModuleType("time")) as other:
            waiting.install()
            self.assertIs(self.strategy.time, other)


def _initialize(self: Any) -> None:
    """Makes of a strategy what results need."""
    from collections import deque  # pylint: disable=import-outside-toplevel

    self._results = deque()


if __name__ == "__main__":
    unittest.main()
