"""Tests of whole playbooks with the hooks, against Ansible's own way."""

from __future__ import annotations

import re
import unittest
from typing import Any

from . import hooksupport
from .hooksupport import play


class ProbeTest(hooksupport.NeedsAnsible):
    """What modules see and return is the same in a fork and in a process of its own."""

    maxDiff = None

    def test_same_process_and_same_result(self) -> None:
        forked, started = play("probe.yml"), play("probe.yml", warm=False)
        self.assertEqual((forked.code, started.code), (0, 0), forked.output + started.output)
        self.assertEqual(forked.modules, {"forked": 3})
        for task in ("plain", "with environment", "after warnings"):
            with self.subTest(task):
                self.assertEqual(normal(forked[task]), normal(started[task]))


def normal(result: dict[str, Any]) -> dict[str, Any]:
    """Returns a result without what differs between two runs of any kind."""
    result = dict(result)
    if "seen" in result:
        result["seen"] = {**result["seen"], "temporary": re.sub(r"/tmp\w+$", "/...", result["seen"]["temporary"])}
    return result


if __name__ == "__main__":
    unittest.main()
