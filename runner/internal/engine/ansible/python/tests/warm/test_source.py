"""Tests of reading and compiling, and of finding out what is missing."""

from __future__ import annotations

import os
import py_compile
import tempfile
import unittest

from . import hooksupport  # noqa: F401  # makes the package known

from chartbook_warm import imports, module, source


class SourceTest(unittest.TestCase):
    """Files, cached by content."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "sample.py")

    def write(self, text: str) -> None:
        """Writes the module."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_compiled_once_until_it_changes(self) -> None:
        self.write("a = 1\n")
        module.compile_cached(self.path)
        first = source.load(self.path)
        self.assertIs(source.load(self.path), first)
        assert first.code is not None
        self.assertEqual((first.code.co_filename, first.text), (self.path, b"a = 1\n"))
        self.write("a = 22\n")
        self.assertEqual(source.load(self.path).text, b"a = 22\n")
        os.utime(self.path, ns=(1, 1))
        again = source.load(self.path)
        os.replace(self.path, self.path + ".old")
        self.write("b = 22\n")
        os.utime(self.path, ns=(1, 1))
        self.assertNotEqual(source.load(self.path).text, again.text, "another file of that name, size and time")

    def test_leaves_nothing_behind_and_uses_what_is_there(self) -> None:
        self.write("a = 1\n")
        source.load(self.path)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["sample.py"])
        os.utime(self.path, (1, 1))
        cached = py_compile.compile(self.path)
        assert cached is not None
        with open(cached, "rb") as file:
            data = file.read()
        with open(cached, "wb") as file:
            file.write(data[:-4])
        code = source.load(self.path).code
        assert code is not None, "a broken cache is no broken module"

    def test_no_python(self) -> None:
        for text in ("def :\n", "\0"):
            self.write(text)
            self.assertIsNone(source.load(self.path).code)
        with self.assertRaises(OSError):
            source.load(self.path + ".not")


class ImportsTest(unittest.TestCase):
    """Shared code by name; none of it is there."""

    def test_missing(self) -> None:
        here = "ansible_collections.a.b.plugins.modules.m"
        utils = "ansible_collections.a.b.plugins.module_utils"
        for text, names in (
            ("import ansible.module_utils.gone.x", ["ansible.module_utils.gone.x"]),
            ("from ansible.module_utils.gone import x", ["ansible.module_utils.gone"]),
            ("from ansible.module_utils import (gone, lost as x)", ["ansible.module_utils.gone", "ansible.module_utils.lost"]),
            ("from ..module_utils.gone import x", [utils + ".gone"]),
            ("from ..module_utils import gone", [utils + ".gone"]),
            ("from ...plugins.module_utils.gone import x", [utils + ".gone"]),
            ("from . import gone", []),
            ("try:\n    from ansible.module_utils.gone import x\nexcept ImportError:\n    pass", []),
            ("import json, gone", []),
            ("from ansible.gone import x", []),
        ):
            with self.subTest(text):
                self.assertEqual(list(imports.missing(text.encode() + b"\n", here)), names)


if __name__ == "__main__":
    unittest.main()
