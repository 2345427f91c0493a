"""Tests of whole playbooks with the hooks, against Ansible's own way."""

from __future__ import annotations

import json
import os
import re
import tempfile
import unittest
from typing import Any

from . import hooksupport
from .hooksupport import gone, play


class ProbeTest(hooksupport.NeedsAnsible):
    """What modules see and return is the same in a fork and in a process of its own."""

    maxDiff = None

    def test_same_process_and_same_result(self) -> None:
        forked, started = play("probe.yml"), play("probe.yml", warm=False)
        self.assertEqual((forked.code, started.code), (0, 0), forked.output + started.output)
        self.assertEqual(forked.modules, {"forked": 4})
        for task in ("plain", "with environment", "after warnings", "with pipelining"):
            with self.subTest(task):
                self.assertEqual(normal(forked[task]), normal(started[task]))


class EndTest(hooksupport.NeedsAnsible):
    """Ways in which modules end."""

    def test_as_without_hooks(self) -> None:
        forked, started = play("misbehave.yml"), play("misbehave.yml", warm=False)
        self.assertEqual(forked.code, started.code, forked.output)
        self.assertEqual(forked.modules, {"forked": 10})
        self.assertEqual(list(forked.results), list(started.results))
        for task in forked.results:
            with self.subTest(task):
                self.assertEqual(normal(forked[task]), normal(started[task]))

    def test_timeout_ends_the_module_and_leaves_the_next_result_alone(self) -> None:
        run = play("ended.yml")
        self.assertEqual(run.code, 0, run.output)
        self.assertRegex(run["hangs"]["msg"], "expected time frame|Timed out|timed out")
        self.assertEqual(run["next"]["said"], "next")
        for pid in run["pids"]["ansible_facts"]["pids"].split():
            self.assertTrue(gone(int(pid)), pid)
        self.assertEqual(int(run["size"]["ansible_facts"]["size"]), 50 << 20)

    def test_the_end_of_the_worker_ends_the_module(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pids")
            run = play("worker.yml", {"pids": path})
            self.assertNotEqual(run.code, 0, run.output)
            with open(path, encoding="utf-8") as file:
                module, _ = file.read().split()
        self.assertTrue(gone(int(module)))


class FallbackTest(hooksupport.NeedsAnsible):
    """What is not for forks goes on as before."""

    def test_each_module_takes_its_path(self) -> None:
        run = play("others.yml")
        self.assertEqual(run.code, 0, run.output)
        self.assertEqual((run["old"]["said"], run["in the background"]["said"]), ("old", "async"))
        self.assertEqual((run["other interpreter"]["ping"], run["in a fork"]["ping"]), ("pong", "pong"))
        self.assertTrue(run["files"]["changed"])
        self.assertEqual(run.left, [])
        modules = dict(run.modules)
        self.assertGreaterEqual(modules.pop("async", 0), 1)
        self.assertGreaterEqual(modules.pop("forked"), 4)
        self.assertEqual(modules, {"old_style": 1, "interpreter": 1})

    def test_switched_off(self) -> None:
        run = play("one.yml", environment={"CHARTBOOK_WARM_MODULES": "off"})
        self.assertEqual((run.code, run.modules), (0, {"disabled": 1}), run.output)

    def test_a_changed_method_leaves_the_hooks_out_and_runs_alone(self) -> None:
        run = play("one.yml", environment={"DRIVER_CHANGE": "_low_level_execute_command"})
        self.assertEqual((run.code, run.modules), (0, {}), run.output)
        self.assertTrue(run.refusal.startswith("signature: "), run.refusal)
        self.assertIn("ActionBase._low_level_execute_command takes (cmd, surprise)", run.refusal)
        self.assertEqual(run["one"]["ping"], "pong")


def normal(result: dict[str, Any]) -> dict[str, Any]:
    """Returns a result without what differs between two runs of any kind, and without frames of Ansible's wrapper."""
    text = json.dumps(result)
    text = re.sub(r"/tmp/tmp\w+", "/tmp/...", text)
    text = re.sub(r"(ansible-(?:module)?tmp)-[\w.-]+", r"\1-...", text)
    text = re.sub(r"(Traceback \(most recent call last\):\\n).*?(\w+Error: )", r"\1...\2", text)
    normalised: dict[str, Any] = json.loads(text)
    return normalised


if __name__ == "__main__":
    unittest.main()
