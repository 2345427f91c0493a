"""Tests of a whole run."""

from __future__ import annotations

import pathlib
import tempfile
import unittest

import client

PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - debug: msg=hello
"""


class SliceTest(unittest.TestCase):
    """A zygote from its start to its end."""

    def test_run(self) -> None:
        with tempfile.TemporaryDirectory() as temp:
            play = pathlib.Path(temp, "play.yml")
            play.write_text(PLAY, encoding="utf-8")
            zygote = client.Zygote(temp=temp)
            self.assertIn("ready", zygote.ready)
            for name in ("first", "second"):
                done = zygote.run(name, "-i", "localhost,", "-c", "local", str(play))
                self.assertEqual((done.code, done.final["code"], done.stderr), (0, 0, ""))
                self.assertIn('"msg": "hello"', done.stdout)
            zygote.send("stop", {})
            self.assertEqual(zygote.close(), "")
            self.assertEqual(zygote.process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
