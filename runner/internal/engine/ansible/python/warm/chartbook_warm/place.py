"""Tells whether an action works on this machine, through what comes with Ansible."""

from __future__ import annotations

import os
from typing import Any

_SHELLS = ("sh", "bash", "dash", "ash", "ksh")


class Place:
    """Knows the plugins that come with Ansible, as they are before a project can replace them."""

    def __init__(self) -> None:
        from ansible.plugins.connection import local
        from ansible.plugins.shell import sh

        self._connection = local.Connection
        self._shell = sh.ShellModule

    def is_local(self, action: Any) -> bool:
        """Tells whether commands of an action reach this machine without detours."""
        connection = action._connection
        return type(connection) is self._connection and type(getattr(connection, "_shell", None)) is self._shell

    @staticmethod
    def usual_shells(action: Any) -> tuple[str, str] | None:
        """Returns the shells that run commands of an action, the inner one last, if they do what the standard says."""
        from ansible import constants

        outer, inner = str(constants.DEFAULT_EXECUTABLE or ""), str(action._play_context.executable or "")
        usual = all(os.path.basename(path) in _SHELLS and os.access(path, os.X_OK) for path in (outer, inner))
        return (outer, inner) if usual else None
