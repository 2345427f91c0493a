"""Asks the operator to run the play again after a while.

The operator remembers the result and acts on it when the play has ended. An action plugin needs no interpreter of its
own, so that the task costs next to nothing.
"""

from __future__ import annotations

import re
from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Checks the time and returns it as the period."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(("time",))

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        period = self._task.args.get("time")
        if period is None:
            result.update(failed=True, msg="missing required arguments: time")
        elif not re.fullmatch("[hms0-9]+", str(period)):
            result.update(failed=True, msg="invalid time input")
        else:
            result.update(changed=False, period=str(period))
        return result
