"""What the tests of modules in forks have in common."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, Mapping

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "project")
WARM = os.path.join(HERE, "..", "..", "warm")

sys.path.insert(0, os.path.realpath(WARM))


def ansible_is_here() -> bool:
    """Tells whether this interpreter is the one to run Ansible with."""
    try:
        import ansible.release  # noqa: F401  # of which other tests make no stand-in
    except ImportError:
        return False
    return True


class NeedsAnsible(unittest.TestCase):
    """Tests that import ansible-core. Of the interpreters that the tests are run with, one has to have it."""

    @classmethod
    def setUpClass(cls) -> None:
        if ansible_is_here():
            return
        program = shutil.which("ansible-playbook")
        if program is None and os.environ.get("CI"):
            raise AssertionError("ansible-playbook is not installed")
        raise unittest.SkipTest("the Python of ansible-playbook runs this test")


class Play:
    """What a run of a playbook of the project has left: results by task name, and how modules were executed."""

    def __init__(self, code: int, output: str, results: dict[str, list[dict[str, Any]]], report: dict[str, Any],
                 left: list[str]) -> None:
        self.left = left  # in the folder for temporary directories
        self.code = code
        self.output = output
        self.results = results
        self.modules: dict[str, int] = report.get("modules", {})
        self.refusal: str = report.get("refusal", "")

    def __getitem__(self, task: str) -> dict[str, Any]:
        """Returns the result of a task that has one."""
        if len(self.results.get(task, [])) != 1:
            raise AssertionError(f"task {task!r} has no single result in\n{self.output}")
        return self.results[task][0]


def play(playbook: str, variables: Mapping[str, Any] | None = None, warm: bool = True,
         environment: Mapping[str, str] | None = None) -> Play:
    """Runs a playbook of the project through the driver, or else as Ansible does."""
    with tempfile.TemporaryDirectory() as folder:
        events, report = os.path.join(folder, "events"), os.path.join(folder, "report")
        command = [sys.executable, os.path.join(HERE, "driver.py"), report]
        if not warm:
            command = [sys.executable, "-m", "ansible", "playbook"]
        os.mkdir(os.path.join(folder, "remote"))
        command += ["-i", "localhost,", "-c", "local", "-e", json.dumps({"scratch": folder, **(variables or {})}),
                    os.path.join(PROJECT, playbook)]
        env = {
            **os.environ,
            "ANSIBLE_CALLBACK_PLUGINS": os.path.join(HERE, "callback"),
            "ANSIBLE_LOCAL_TEMP": os.path.join(folder, "local"),
            "ANSIBLE_REMOTE_TMP": os.path.join(folder, "remote"),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_DEVEL_WARNING": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RECORDER": events,
            **(environment or {}),
        }
        done = subprocess.run(command, env=env, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)
        return Play(done.returncode, done.stdout, _results(events), _json(report),
                    _left(os.path.join(folder, "remote")))


def _left(folder: str) -> list[str]:
    """Returns what stays in a folder. An async task's own process removes its directory after it has told its result."""
    for _ in range(500):
        if not os.listdir(folder):
            break
        time.sleep(0.01)
    return os.listdir(folder)


def _results(path: str) -> dict[str, list[dict[str, Any]]]:
    results: dict[str, list[dict[str, Any]]] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                results.setdefault(event["task"], []).append(event["result"])
    return results


def _json(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content


def gone(pid: int) -> bool:
    """Tells whether a process ends within some seconds; a zombie has ended."""
    for _ in range(500):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False
