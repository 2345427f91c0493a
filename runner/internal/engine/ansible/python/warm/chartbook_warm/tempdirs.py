"""Makes and removes the temporary directory of an action without a shell."""

from __future__ import annotations

import os
import pwd
import re
import shutil
from typing import Any

from chartbook_warm.place import Place

_PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./@%+:,=-]*\Z")  # a shell would take nothing in it for more than it is
_HOME = re.compile(r"~([A-Za-z0-9_.-]*)(?=/|\Z)")


def make(action: Any, place: Place) -> str | None:
    """Makes the directory that _make_tmp_path would, and returns its path; None leaves it all to the original."""
    if not _in_reach(action, place) or getattr(action._connection, "_remote_is_local", False):
        return None
    parent = _expand(str(action.get_shell_option("remote_tmp", default="~/.ansible/tmp")), action)
    shell = action._connection._shell
    name = str(shell._generate_temp_dir_name())
    if parent is None or not _PLAIN_PATH.match("/" + name):
        return None
    path = os.path.join(parent, name)
    old = os.umask(0o077)
    try:
        os.makedirs(parent, exist_ok=True)
        os.mkdir(path)
    except OSError:
        return None  # the original says it best
    finally:
        os.umask(old)
    _connect(action)
    action._cleanup_remote_tmp = True
    shell.tmpdir = os.path.join(path, "")
    return str(shell.tmpdir)


def remove(action: Any, place: Place, path: str | None, force: bool) -> bool:
    """Removes what _remove_tmp_path would; False leaves it all to the original."""
    shell = action._connection._shell
    if path is None:
        path = shell.tmpdir
    if not path or not (force or action._should_remove_tmp_path(path)):
        return False
    if not _in_reach(action, place) or not _PLAIN_PATH.match(path):
        return False
    try:
        shutil.rmtree(path.rstrip("/"))
    except FileNotFoundError:
        pass
    except OSError:
        return False
    _connect(action)
    shell.tmpdir = None
    return True


def _in_reach(action: Any, place: Place) -> bool:
    return place.is_local(action) and not action._connection.become and place.usual_shells(action) is not None


def _connect(action: Any) -> None:
    if not action._connection.connected:
        action._connection._connect()


def _expand(path: str, action: Any) -> str | None:
    """Returns a path without a tilde, which means the home directory of the password file, as the shell has it."""
    match = _HOME.match(path)
    if match:
        user = match[1] or action._get_remote_user() or ""
        try:
            home = pwd.getpwnam(str(user)).pw_dir if user else os.environ.get("HOME", "")
        except KeyError:
            return None
        path = home.rstrip("/") + path[match.end():]
    if not _PLAIN_PATH.match(path) or ".." in path.split("/"):
        return None
    return path
