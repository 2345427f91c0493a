"""Tests of temporary directories that are made without a shell: as the original makes them."""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

from . import hooksupport  # noqa: F401  # makes the package known

from chartbook_warm import tempdirs


class FakeAction:
    """As much of an action plugin as is asked."""

    def __init__(self, remote_tmp: str, user: str = "") -> None:
        shell = types.SimpleNamespace(tmpdir=None, _generate_temp_dir_name=lambda: "ansible-tmp-1-2-3")
        self._connection: Any = types.SimpleNamespace(_shell=shell, become=None, connected=True)
        self._remote_tmp = remote_tmp
        self._user = user
        self._cleanup_remote_tmp = False

    def get_shell_option(self, _name: str, default: str) -> str:
        """Returns the setting remote_tmp."""
        return self._remote_tmp or default

    def _get_remote_user(self) -> str:
        return self._user

    def _should_remove_tmp_path(self, path: str) -> bool:
        return self._cleanup_remote_tmp and "-tmp-" in path


class TempdirsTest(unittest.TestCase):
    """Making and removing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.place: Any = mock.Mock()

    def test_made_private_with_its_parents_and_removed(self) -> None:
        action: Any = FakeAction(self.folder + "/a/b")
        before = os.umask(0o000)
        self.addCleanup(os.umask, before)
        path = tempdirs.make(action, self.place)
        assert path is not None
        self.assertEqual(path, self.folder + "/a/b/ansible-tmp-1-2-3/")
        self.assertEqual(action._connection._shell.tmpdir, path)
        for made in (path, self.folder + "/a/b", self.folder + "/a"):
            self.assertEqual(stat.S_IMODE(os.stat(made).st_mode), 0o700)
        self.assertEqual(os.umask(0o000), 0o000)
        with open(path + "file", "w", encoding="utf-8"):
            pass
        self.assertTrue(tempdirs.remove(action, self.place, path, False))
        self.assertEqual(os.listdir(self.folder + "/a/b"), [])
        self.assertIsNone(action._connection._shell.tmpdir)

    def test_not_removed_unless_made_or_forced(self) -> None:
        action: Any = FakeAction(self.folder)
        path = tempdirs.make(action, self.place)
        action._cleanup_remote_tmp = False
        self.assertFalse(tempdirs.remove(action, self.place, path, False))
        self.assertFalse(tempdirs.remove(action, self.place, "", False))
        self.assertTrue(tempdirs.remove(action, self.place, None, True))
        self.assertEqual(os.listdir(self.folder), [])
        self.assertTrue(tempdirs.remove(action, self.place, path, True), "what is gone counts as removed")

    def test_home_is_that_of_the_password_file(self) -> None:
        entry = mock.Mock(pw_dir=self.folder)
        with mock.patch.object(pwd, "getpwnam", return_value=entry) as getpwnam:
            path = tempdirs.make(FakeAction("~/tmp", user="somebody"), self.place)
            getpwnam.assert_called_with("somebody")
            self.assertEqual(path, self.folder + "/tmp/ansible-tmp-1-2-3/")
            tempdirs.make(FakeAction("~other/more", user="somebody"), self.place)
            getpwnam.assert_called_with("other")

    def test_a_user_without_an_entry_has_home(self) -> None:
        with mock.patch.dict(os.environ, {"HOME": self.folder}):
            self.assertEqual(tempdirs.make(FakeAction("~/tmp"), self.place), self.folder + "/tmp/ansible-tmp-1-2-3/")

    def test_left_to_the_original(self) -> None:
        for path in ("$HOME/x", "/tmp/`x`", "/tmp/a b", "/tmp/*", "relative", "~nobody-of-this-name/x", "/tmp/../x", "/dev/null/x"):
            with self.subTest(path):
                action: Any = FakeAction(path)
                self.assertIsNone(tempdirs.make(action, self.place))
                self.assertIsNone(action._connection._shell.tmpdir)
        for refusal in ({"is_local.return_value": False}, {"usual_shells.return_value": None}):
            action = FakeAction(self.folder)
            self.assertIsNone(tempdirs.make(action, mock.Mock(**refusal)))
            self.assertFalse(tempdirs.remove(action, mock.Mock(**refusal), self.folder, True))
        action = FakeAction(self.folder)
        action._connection.become = mock.Mock()
        self.assertIsNone(tempdirs.make(action, self.place))
        action = FakeAction(self.folder)
        action._connection._remote_is_local = True
        self.assertIsNone(tempdirs.make(action, self.place))
        self.assertTrue(os.path.isdir(self.folder))


if __name__ == "__main__":
    unittest.main()
