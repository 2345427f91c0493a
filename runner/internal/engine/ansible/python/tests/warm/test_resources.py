"""Tests that the size of requests and outputs does not matter. What many runs leave behind is tested in Go."""

from __future__ import annotations

import json
import os

from .scene import VAULTED, Case, said


class ResourcesTest(Case):
    """Large runs."""

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
