"""Tests of counters."""

from __future__ import annotations

import os
import unittest

from . import hooksupport  # noqa: F401  # makes the package known

from chartbook_warm.counters import FORKED, NAMES, Counters


class CountersTest(unittest.TestCase):
    """Counts of several processes."""

    def test_forks_add_up(self) -> None:
        counters = Counters()
        counters.fresh()
        children = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                for _ in range(500):
                    counters.add(FORKED)
                counters.add("async")
                os._exit(0)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        self.assertEqual(counters.as_dict(), {FORKED: 2000, "async": 4})

    def test_fresh_begins_at_zero_and_is_no_business_of_others(self) -> None:
        counters = Counters()
        counters.add(FORKED)
        self.assertEqual(counters.as_dict(), {})
        counters.fresh()
        counters.add(FORKED)
        pid = os.fork()
        if pid == 0:
            counters.fresh()
            counters.add("become")
            os._exit(int(counters.as_dict() != {"become": 1}))
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(counters.as_dict(), {FORKED: 1})

    def test_a_process_that_dies_while_it_counts_blocks_no_other(self) -> None:
        counters = Counters()
        counters.fresh()
        pid = os.fork()
        if pid == 0:
            import fcntl

            fcntl.lockf(counters._fd, fcntl.LOCK_EX)
            os.kill(os.getpid(), 9)
        os.waitpid(pid, 0)
        counters.add(FORKED)
        self.assertEqual(counters.as_dict(), {FORKED: 1})

    def test_names_are_closed(self) -> None:
        counters = Counters()
        counters.fresh()
        with self.assertRaises(KeyError):
            counters.add("surprise")
        self.assertEqual(len(set(NAMES)), len(NAMES))


if __name__ == "__main__":
    unittest.main()
