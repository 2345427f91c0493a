"""Tests that runs leave nothing behind in a zygote, and that size does not matter."""

from __future__ import annotations

import json
import os

from . import client, processes
from .scene import VAULTED, Case, said


class ResourcesTest(Case):
    """Many runs, and large ones."""

    def anonymous(self) -> int:
        """Returns how many bytes of memory the zygote has for itself."""
        with open(f"/proc/{self.scene.zygote.process.pid}/smaps_rollup", encoding="ascii") as file:
            sizes = dict(line.split()[:2] for line in file if line.endswith("kB\n"))
        return int(sizes["Anonymous:"]) * 1024

    def descriptors(self) -> list[str]:
        """Returns what the zygote has open."""
        folder = f"/proc/{self.scene.zygote.process.pid}/fd"
        return sorted(os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder))

    def runs(self, count: int) -> None:
        """Starts runs, some at a time, and waits for their ends."""
        for _ in range(count // 4):
            for run in [self.scene.start("--version") for _ in range(4)]:
                self.assertEqual(run.finish().code, 0)

    def test_nothing_is_left(self) -> None:
        self.runs(40)
        before, memory = self.descriptors(), self.anonymous()
        self.runs(200)
        self.assertEqual(self.descriptors(), before)
        grown = (self.anonymous() - memory) / 200
        self.assertLess(grown, 5000, "bytes per run")
        pid = self.scene.zygote.process.pid
        self.assertEqual(len(os.listdir(f"/proc/{pid}/task")), 1)
        client.eventually("all are reaped", lambda: not processes.below(pid))
        self.assertEqual(os.listdir(self.scene.temp), [])
        self.assertEqual(len([name for name in before if name.startswith("socket:")]), 1, before)

    def test_large_request(self) -> None:
        play = self.scene.play("- debug: msg=length={{ blob | length }}\n")
        variables = json.dumps({"blob": {"__ansible_unsafe": "{{" + "x" * (50 << 20)}})
        self.assertEqual(said(self.good(play, "-e", variables))["length"], str((50 << 20) + 2))

    def test_large_output_that_nobody_reads_at_first(self) -> None:
        run = self.scene.start(self.scene.play("- debug: msg={{ 'x' * 3000000 }}\n"))
        ends = self.scene.start("--version").finish()  # the zygote serves others meanwhile
        self.assertEqual(ends.code, 0)
        self.assertGreater(len(run.finish().stdout), 3_000_000)

    def test_vault_password_by_a_pipe(self) -> None:
        read, write = os.pipe()
        os.write(write, b"sesame\n")
        os.close(write)
        secret = self.scene.write("secret.yml", VAULTED)
        run = self.scene.start(self.scene.play("- debug: msg=said={{ word }}\n"), "-e", "@" + secret,
                               "--vault-id", "x@/proc/self/fd/4", extra=(read,))
        os.close(read)
        self.assertEqual(said(run.finish())["said"], "open")
