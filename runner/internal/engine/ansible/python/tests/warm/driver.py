"""Runs a playbook as the warm executor does, but without a supervisor: everything imported, hooks installed, one fork.

Usage: driver.py REPORT ansible-playbook-arguments...

Writes to REPORT a JSON object with the counters. With an adapter that is refused the playbook runs without hooks.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from typing import Any

WARM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "warm")


def preload(names: list[str], kubeconfig: str) -> None:
    """Imports what the tests are about, while KUBECONFIG has another value than in the run."""
    import importlib

    import ansible.cli.playbook  # noqa: F401
    import ansible.executor.module_common  # noqa: F401
    import ansible.plugins.action  # noqa: F401
    import ansible.plugins.connection.local  # noqa: F401
    from ansible.plugins import loader

    if hasattr(loader, "init_plugin_loader"):
        loader.init_plugin_loader()
    of_the_run = os.environ.get("KUBECONFIG")
    if kubeconfig:
        os.environ["KUBECONFIG"] = kubeconfig
    for name in names:
        importlib.import_module(name)
    if kubeconfig and of_the_run is not None:
        os.environ["KUBECONFIG"] = of_the_run


def change(name: str) -> None:
    """Makes a method of Ansible one that takes something else, but works."""
    if not name:
        return
    from ansible.plugins.action import ActionBase

    original = getattr(ActionBase, name)

    def changed(self: Any, cmd: Any, surprise: Any = None, **more: Any) -> Any:
        return original(self, cmd, **more)

    changed.__signature__ = inspect.signature(lambda self, cmd, surprise: None)  # type: ignore[attr-defined]
    setattr(ActionBase, name, changed)


def play(arguments: list[str]) -> int:
    """Runs the playbook in this process and returns the exit code as upstream's command line does."""
    from ansible.cli.playbook import PlaybookCLI

    try:
        PlaybookCLI.cli_executor(["ansible-playbook", *arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def main() -> int:
    """Returns the exit code of the playbook."""
    sys.path.insert(0, WARM)
    from chartbook_warm import hooks, versions
    from chartbook_warm.counters import Counters

    del sys.path[:2]  # neither this folder nor that of the package is one that Ansible knows

    preload(os.environ.pop("DRIVER_PRELOAD", "").split(), os.environ.pop("DRIVER_KUBECONFIG", ""))
    from ansible.release import __version__

    change(os.environ.pop("DRIVER_CHANGE", ""))
    counters = Counters()
    chosen: Any = versions.choose(__version__)
    if isinstance(chosen, versions.Refusal):
        refusal = f"{chosen.reason}: {chosen.message}"
    else:
        refusal = ""
        hooks.install(chosen, counters)
    report = sys.argv[1]
    pid = os.fork()
    if pid == 0:
        code = 250
        try:
            counters.fresh()
            code = play(sys.argv[2:])
            with open(report, "w", encoding="utf-8") as file:
                json.dump({"modules": counters.as_dict(), "refusal": refusal}, file)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
