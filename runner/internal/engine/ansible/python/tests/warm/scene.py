"""A directory with a project, a home and a zygote, for tests."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

from .client import Finished, Started, Zygote, program
from .hooksupport import NeedsAnsible

# A file of variables, in which word is "open", for the password "sesame".
VAULTED = """$ANSIBLE_VAULT;1.1;AES256
39356262346534653737613162636162663437383530393463663634343937326462333035653938
6139376634393239396165653766613565346234343464380a663964323632323330346435653933
36343565396439613166613764663362346532623961616535393536316563616663643139356332
6665383231623234640a333335663331363561616138626535373438656666343761393236313431
6233
"""


class Scene:
    """Where runs take place."""

    def __init__(self, *options: str, **env: str) -> None:
        """Makes an empty project.

        Args:
            options: Of zygotes.
            env: What the environment has besides the least.
        """
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="warm-")).resolve()
        self.project = self.root / "project"
        self.temp = self.root / "tmp"
        for path in (self.project, self.temp, self.root / "home"):
            path.mkdir()
        self.options = options
        self._env = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "LC_ALL": "C.UTF-8", **env}
        self._zygote: Zygote | None = None

    def env(self, **more: str) -> dict[str, str]:
        """Returns the environment of one run."""
        places = ("ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TMP", "ANSIBLE_ASYNC_DIR", "TMPDIR")
        return {**self._env, **dict.fromkeys(places, str(self.temp)), **more}

    def set(self, **env: str) -> None:
        """Sets variables for zygote and runs."""
        self._env.update(env)

    def forget(self, name: str) -> None:
        """Takes a variable out."""
        del self._env[name]

    def write(self, path: str, text: str) -> str:
        """Writes a file into the project. Returns its absolute path."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def play(self, tasks: str, name: str = "play.yml", **keywords: str) -> str:
        """Writes a playbook with these tasks. Returns its path."""
        lines = ["- hosts: localhost", "  connection: local", "  gather_facts: false"]
        lines += [f"  {key}: {value}" for key, value in keywords.items()]
        lines += ["  tasks:", *("    " + line for line in tasks.strip("\n").splitlines())]
        return self.write(name, "\n".join(lines) + "\n")

    @property
    def zygote(self) -> Zygote:
        """The zygote, started when it is asked for first."""
        if self._zygote is None:
            self._zygote = Zygote(*self.options, env=self.env())
            assert self._zygote.ready, self._zygote.failed or self._zygote.last_words()
        return self._zygote

    def start(self, *argv: str, cwd: str = "", extra: tuple[int, ...] = (), **env: str) -> Started:
        """Starts a run."""
        started = self.zygote.start(*extra)
        more = {"CHARTBOOK_RUN": started.name, "CHARTBOOK_EVENTS_FD": "3", **env}
        started.request(list(argv), self.env(**more), cwd or str(self.project))
        return started

    def run(self, *argv: str, cwd: str = "", **env: str) -> Finished:
        """Runs ansible-playbook in a fork of the zygote."""
        return self.start(*argv, cwd=cwd, **env).finish()

    def plain(self, *argv: str, cwd: str = "", **env: str) -> Finished:
        """Runs a fresh ansible-playbook, with as many descriptors as a run has."""
        done = subprocess.run([program(), *argv], cwd=cwd or self.project, env=self.env(**env), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, pass_fds=[3], preexec_fn=lambda: os.dup2(0, 3) and None)
        return Finished(done.returncode, {"stdout": done.stdout, "stderr": done.stderr}, {}, {})

    def close(self) -> None:
        """Ends the zygote and removes the files."""
        if self._zygote is not None:
            self._zygote.hang_up()  # which ends what is still running
            self._zygote.wait()
        shutil.rmtree(self.root, ignore_errors=True)


class Case(NeedsAnsible):
    """A test with a scene that all tests of its class share."""

    options: tuple[str, ...] = ()
    scene: Scene

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.scene = Scene(*cls.options)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scene.close()

    def good(self, *argv: str, **more: Any) -> Finished:
        """Runs something that has to succeed."""
        done = self.scene.run(*argv, **more)
        self.assertEqual((done.code, done.last), (0, {"final": {"code": 0, "modules": done.last["final"]["modules"]}}), done)
        return done

    def said(self, tasks: str, **more: Any) -> dict[str, str]:
        """Runs debug tasks and returns what they print: name=value."""
        return said(self.good(self.scene.play(tasks), **more))


def said(done: Finished) -> dict[str, str]:
    """Returns what debug tasks of a run have printed as name=value."""
    return dict(re.findall(r'"msg": "([a-z0-9_]+)=(.*)"\n', done.stdout))
