"""Writes each task's name and result to the file that RECORDER names."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: recorder
type: notification
short_description: Writes results to a file
description: [Writes results to a file]
"""


class CallbackModule(CallbackBase):
    """The plugin as ansible-core sees it."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "recorder"
    CALLBACK_NEEDS_ENABLED = False

    def _write(self, outcome: Any) -> None:
        task = getattr(outcome, "task", None) or outcome._task
        result = getattr(outcome, "result", None) or outcome._result
        with open(os.environ["RECORDER"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"task": task.get_name(), "result": result}, default=str) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write(result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._write(result)
