"""Tests that a task talks to the API server as itself: credentials stay with the task that has them."""

from __future__ import annotations

import itertools
import os
import tempfile
import unittest

from . import hooksupport
from .apiserver import Server
from .hooksupport import play


class CredentialsTest(hooksupport.NeedsAnsible):
    """Tasks with kubeconfigs and tokens, one after the other."""

    def test_each_task_is_itself(self) -> None:
        server = Server()
        self.addCleanup(server.close)
        with tempfile.TemporaryDirectory() as folder:
            good, other = server.kubeconfig(folder, "good"), server.kubeconfig(folder, "other")
            run = play("credentials.yml", {"host": server.host, "good": good, "other": other}, environment={
                "KUBECONFIG": good,
                "TMPDIR": folder,
                "DRIVER_PRELOAD": "kubernetes.config kubernetes.dynamic "
                                  "ansible_collections.kubernetes.core.plugins.module_utils.k8s.client",
                "DRIVER_KUBECONFIG": "/nowhere",
            })
            for name in list(os.environ):
                self.assertFalse(name.startswith("K8S_AUTH_"), "the test needs an environment without credentials")
        self.assertEqual((run.code, run.modules), (0, {"forked": 8}), run.output)
        for task in ("bad token", "bad token after a lookup in the same worker", "no file of the task"):
            self.assertNotIn("resources", run[task], task)
            self.assertIn("onfig" if "file" in task else "401", run[task]["msg"], task)
        for task in ("good file", "file of the run", "file of the task", "file of the run again",
                     "settings of the task"):
            self.assertEqual(len(run[task].get("resources", [])), 1, (task, run[task]))
        self.assertEqual([token for token, _ in itertools.groupby(server.seen)],
                         ["good", "bad", "good", "bad", "good", "other", "good", "third"])


if __name__ == "__main__":
    unittest.main()
