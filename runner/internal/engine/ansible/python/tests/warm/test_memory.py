"""Tests of files that are in a run's memory alone."""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "warm"))

from chartbook_warm import memory  # noqa: E402  pylint: disable=wrong-import-position


class MemoryTest(unittest.TestCase):
    """Reads files by Ansible's loader."""

    def test_files(self) -> None:
        """What is in memory is found, and everything else as ever."""
        from ansible.errors import AnsibleFileNotFound  # pylint: disable=import-outside-toplevel
        from ansible.parsing.dataloader import DataLoader  # pylint: disable=import-outside-toplevel

        read = DataLoader._get_file_contents
        self.addCleanup(setattr, DataLoader, "_get_file_contents", read)
        memory.serve({})
        self.assertIs(read, DataLoader._get_file_contents)
        with tempfile.TemporaryDirectory() as place:
            real = os.path.join(place, "real")
            pathlib.Path(real).write_text('{"a": 1}', encoding="utf-8")
            memory.serve({os.path.join(place, "vars"): '{"é": {"__ansible_unsafe": "{{ x }}"}}'})
            loader = DataLoader()
            found = loader.load_from_file(os.path.join(place, "vars"))
            self.assertEqual({"é": "{{ x }}"}, found)
            self.assertTrue(hasattr(found["é"], "__UNSAFE__"))
            self.assertEqual({"a": 1}, loader.load_from_file(real))
            self.assertEqual(["real"], os.listdir(place))
            with self.assertRaises(AnsibleFileNotFound):
                loader.load_from_file(os.path.join(place, "nowhere"))


if __name__ == "__main__":
    unittest.main()
