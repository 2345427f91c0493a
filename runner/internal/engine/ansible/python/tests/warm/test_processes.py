"""Tests of the processes around a run: found, told of, ended and reaped."""

from __future__ import annotations

import os
import signal
import socket

from . import client
from .processes import alive, below, marked, stat
from .scene import Case, Scene

# A task that says when it has begun, and goes on until it is ended.
WAIT = "- shell: echo begun > {place}; exec sleep 1000\n"

# A daemon that left its session and does not mind being asked to end.
DAEMON = """
- shell: |
    setsid sh -c 'trap "" TERM INT HUP; echo $$ > {place}; while :; do sleep 1000; done' >/dev/null 2>&1 </dev/null 3>&- &
- shell: until [ -s {place} ]; do sleep 0.01; done
"""


class Run:
    """A started run of a task that waits."""

    def __init__(self, scene: Scene, name: str, before: str = "") -> None:
        place = scene.project / name
        self.started = scene.start(scene.play(before + WAIT.format(place=place), name=name + ".yml"))
        self.pid = self.started.pid
        client.eventually("the task has begun", lambda: place.exists() and place.read_text() != "")


class RunsTest(Case):
    """Runs of a zygote that stays."""

    def test_found_by_mark_and_session(self) -> None:
        run = Run(self.scene, "found")
        self.assertEqual(stat(run.pid)[2:4], [str(run.pid)] * 2, "group and session")
        worker = next(pid for pid in marked(run.started.name) if stat(pid)[1] == str(run.pid))
        below = [pid for pid in marked(run.started.name) if stat(pid)[1] == str(worker)]
        self.assertTrue(below, "the module has the mark too")
        self.assertNotIn(self.scene.zygote.process.pid, marked(run.started.name))
        os.killpg(run.pid, signal.SIGTERM)
        done = run.started.finish()
        self.assertEqual((done.code, done.last, done.ended["code"]), (-signal.SIGTERM, {}, -1))
        client.eventually("all have ended", lambda: not marked(run.started.name))

    def test_zombie_is_kept_until_it_is_let_go(self) -> None:
        run = self.scene.start("--version")
        run.output()
        run.last_message()
        ended = self.scene.zygote.expect("ended", run.name)
        self.assertEqual((ended["code"], ended["signal"]), (0, 0))
        self.assertGreater(ended["cpu_us"], 0)
        self.assertGreater(ended["max_rss_kb"], 10_000)
        self.assertEqual(stat(run.pid)[0], "Z")
        self.scene.zygote.send("reap", {"id": run.name})
        client.eventually("it is reaped", lambda: run.pid not in below(self.scene.zygote.process.pid))

    def test_orphans_are_reaped(self) -> None:
        place = self.scene.project / "daemon"
        self.good(self.scene.play(DAEMON.format(place=place)))
        daemon = int(place.read_text())
        self.assertEqual(stat(daemon)[1], str(self.scene.zygote.process.pid), "it has been inherited")
        os.killpg(daemon, signal.SIGKILL)
        client.eventually("nothing is left", lambda: not below(self.scene.zygote.process.pid))

    def test_two_at_a_time(self) -> None:
        one, two = Run(self.scene, "one"), Run(self.scene, "two")
        os.killpg(two.pid, signal.SIGKILL)
        self.assertEqual(two.started.finish().code, -signal.SIGKILL)
        self.assertTrue(alive(one.pid))
        os.killpg(one.pid, signal.SIGKILL)
        self.assertEqual(one.started.finish().code, -signal.SIGKILL)

    def test_refused(self) -> None:
        zygote = self.scene.zygote
        ours, its = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(its.close)
        for why, mark, fds in [
            ("a mark that does not fit", "CHARTBOOK_RUN=" + "x" * 200, (its.fileno(), 2, 2, 2)),
            ("too few descriptors", "CHARTBOOK_RUN=a", (its.fileno(),)),
        ]:
            with self.subTest(why):
                zygote.send("run", {"id": why, "mark": mark}, fds)
                self.assertTrue(zygote.expect("refused", why)["message"])
        self.good("--version")

    def test_declined(self) -> None:
        run = self.scene.start("--version", ANSIBLE_NO_LOG="yes")
        done = run.finish()
        self.assertIn("ANSIBLE_NO_LOG", done.last["declined"]["message"])
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertNotEqual(done.code, 0)

    def test_no_request(self) -> None:
        run = self.scene.zygote.start()
        run.hang_up()
        self.assertEqual(run.finish().code, 250)


class EndsTest(Case):
    """Zygotes that end."""

    def setUp(self) -> None:
        self.own = Scene()
        self.addCleanup(self.own.close)

    def test_stop(self) -> None:
        zygote = self.own.zygote
        run = Run(self.own, "last")
        zygote.send("stop", {})
        zygote.send("run", {"id": "late", "mark": ""}, (0, 1, 2, 2))
        self.assertIn("stop", zygote.expect("refused", "late")["message"])
        os.killpg(run.pid, signal.SIGKILL)
        run.started.finish()
        self.assertEqual((zygote.wait(), zygote.last_words()), (0, ""))

    def test_operator_has_gone(self) -> None:
        before = self.own.project / "before"
        self.own.run(self.own.play(DAEMON.format(place=before)))
        stays, goes = int(before.read_text()), self.own.project / "goes"
        self.addCleanup(os.killpg, stays, signal.SIGKILL)
        run = Run(self.own, "running", DAEMON.format(place=goes))
        family = [run.pid, int(goes.read_text()), *marked(run.started.name)]
        self.own.zygote.hang_up()
        self.assertEqual(self.own.zygote.wait(), 0)
        self.assertEqual([pid for pid in family if alive(pid)], [])
        self.assertTrue(alive(stays), "what an earlier run left on purpose is nobody's business")

    def test_zygote_is_killed(self) -> None:
        run = Run(self.own, "orphan")
        self.own.zygote.process.kill()
        self.own.zygote.wait()
        sleeper = next(pid for pid in marked(run.started.name) if not below(pid))
        os.kill(sleeper, signal.SIGTERM)
        output = run.started.output()
        self.assertIn(b"failed=1", output["stdout"])
        self.assertEqual(run.started.last_message()["final"]["code"], 2)
