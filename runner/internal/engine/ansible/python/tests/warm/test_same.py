"""Tests that a run in a fork says what a fresh ansible-playbook says, and ends with the same code."""

from __future__ import annotations

import os
import signal

from . import client, processes
from .hooksupport import NeedsAnsible
from .scene import VAULTED, Case, Scene


class SameTest(Case):
    """Compares with a fresh process: exit code, standard output and standard error."""

    def compare(self, code: int, *argv: str, **env: str) -> client.Finished:
        """Runs both ways. Returns what the fork said."""
        warm, plain = self.scene.run(*argv, **env), self.scene.plain(*argv, **env)
        self.assertEqual((warm.code, warm.stdout, warm.stderr), (plain.code, plain.stdout, plain.stderr))
        self.assertEqual(warm.code, code)
        self.assertEqual(warm.last["final"]["code"], code)
        return warm

    def test_ends(self) -> None:
        play, write = self.scene.play, self.scene.write
        good = play("- debug: msg=hello", name="good.yml")
        for why, code, argv in [
            ("all is well", 0, [good]),
            ("another inventory", 0, [good, "-i", "localhost,other,", "--limit", "other"]),
            ("a failed task", 2, [play("- fail: msg=no", name="failed.yml")]),
            ("YAML that is none", 4, [write("broken.yml", "- hosts: localhost\n  tasks: [\n")]),
            ("two actions in one task", 4, [play("- {debug: , fail: }", name="two.yml")]),
            ("an unknown option", 2, [good, "--no-such-option"]),
            ("extra vars that are none", 5, [good, "-e", "[1]"]),
            ("no such playbook", 1, ["missing.yml"]),
            ("the wrong password", 1, [good, "-e", "@" + write("secret.yml", VAULTED), "--vault-password-file", write("word", "wrong\n")]),
            ("no play", 0, [good, "--list-tasks"]),
            ("the version", 0, ["--version"]),
            ("colours and details", 0, [good, "-vvvvv"]),
        ]:
            with self.subTest(why):
                self.compare(code, *argv)

    def test_a_fault_of_ansible(self) -> None:
        self.scene.write("strategy_plugins/faulty.py", "raise_it = None\n"
                         "from ansible.plugins.strategy.linear import StrategyModule as Linear\n"
                         "class StrategyModule(Linear):\n"
                         "    def run(self, iterator, play_context):\n"
                         "        raise RuntimeError('as unexpected as can be')\n")
        play = self.scene.play("- debug:", name="faulty.yml", strategy="faulty")
        done = self.compare(250, play)
        self.assertIn("as unexpected as can be", done.stderr)
        warm, plain = self.scene.run(play, "-vvv"), self.scene.plain(play, "-vvv")
        self.assertIn("Traceback", warm.stdout)
        self.assertEqual(warm.stdout, plain.stdout)

    def test_interrupted(self) -> None:
        started = self.scene.start(self.scene.play("- shell: echo > begun; exec sleep 1000\n- command: 'true'"))
        place = self.scene.project / "begun"
        client.eventually("the task has begun", lambda: place.exists() and place.read_text() != "")
        os.killpg(started.pid, signal.SIGINT)
        done = started.finish()
        self.assertEqual((done.code, done.last["final"]["code"]), (99, 99))
        self.assertIn("User interrupted execution", done.stderr)
        client.eventually("nothing goes on", lambda: not processes.marked(started.name))


class WarningsTest(NeedsAnsible):
    """What Ansible prints when it is imported belongs to each run."""

    def test_warnings(self) -> None:
        scene = Scene()
        self.addCleanup(scene.close)
        settings = scene.write("old.cfg", "[defaults]\ncallback_whitelist = timer\nno_such_setting = 1\nhash_behaviour = merge\n")
        scene = Scene(ANSIBLE_CONFIG=settings, ANSIBLE_DISPLAY_SKIPPED_HOSTS="no")
        self.addCleanup(scene.close)
        play = scene.play("- debug: msg=hello")
        plain = scene.plain(play)
        self.assertIn("DEPRECATION", plain.stderr)
        for _ in range(2):
            warm = scene.run(play)
            self.assertEqual((warm.stdout, warm.stderr), (plain.stdout, plain.stderr))
