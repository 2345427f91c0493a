"""Replaces six methods of Ansible's action plugins, so that eligible modules run in forks of the worker.

The originals are called always, or told that there is nothing to do: how arguments are completed, how results are
read and what becomes of errors stays Ansible's business.
"""

from __future__ import annotations

import functools
import gc
import os
from typing import Any, Callable, Iterable

from chartbook_warm import fork, tempdirs
from chartbook_warm.adapters.base import Adapter
from chartbook_warm.counters import FORKED, Counters
from chartbook_warm.eligibility import Eligibility, Ineligible
from chartbook_warm.payload import Payload
from chartbook_warm.place import Place

SWITCH = "CHARTBOOK_WARM_MODULES"  # "off" in the environment of a run leaves all modules to Ansible

_SLOT = "_chartbook_payload"
_CONSULTED = ("_configure_module", "_is_pipelining_enabled", "_low_level_execute_command")

Method = Callable[..., Any]


def install(adapter: Adapter, counters: Counters, consulted: Iterable[str] = ()) -> None:
    """Replaces the methods for this process and all its forks.

    Args:
        adapter: What versions.choose has returned.
        counters: Where each execution of a module is counted.
        consulted: Names of the environment whose values have been used by what is imported; a task that sets one
            of them gets a process of its own.

    Raises:
        RuntimeError: They are replaced already.
    """
    from ansible.plugins.action import ActionBase

    if hasattr(ActionBase, _SLOT):
        raise RuntimeError("the hooks are installed already")
    place = Place()
    hooks = _Hooks(adapter, counters, place, Eligibility(adapter, place, consulted))
    for name in ("_execute_module", *_CONSULTED, "_make_tmp_path", "_remove_tmp_path"):
        original = getattr(ActionBase, name)
        setattr(ActionBase, name, functools.wraps(original)(hooks.replacement(name, original)))
    setattr(ActionBase, _SLOT, None)
    _share_for_good()


def _share_for_good() -> None:
    """Keeps the garbage collector of forks from looking at all that is imported, which would copy most of it."""
    gc.collect()
    gc.freeze()


class _Hooks:
    """The replacements. Each makes a function of an original."""

    def __init__(self, adapter: Adapter, counters: Counters, place: Place, eligibility: Eligibility) -> None:
        self._adapter = adapter
        self._counters = counters
        self._place = place
        self._eligibility = eligibility
        self._installed: dict[str, Method] = {}

    def replacement(self, name: str, original: Method) -> Method:
        """Returns what to put in the place of a method."""
        make: Callable[[Method], Method] = getattr(self, name.lstrip("_"))
        method = make(original)
        self._installed[name] = method
        return method

    def execute_module(self, original: Method) -> Method:
        def execute(action: Any, module_name: Any = None, module_args: Any = None, tmp: Any = None,
                    task_vars: Any = None, persist_files: bool = False, delete_remote_tmp: Any = None,
                    wrap_async: Any = False, **more: Any) -> Any:
            payload, reason = self._decide(action, module_name, task_vars, bool(wrap_async))
            outer = getattr(action, _SLOT)
            setattr(action, _SLOT, payload)
            try:
                return original(action, module_name, module_args, tmp, task_vars, persist_files, delete_remote_tmp,
                                wrap_async, **more)
            finally:
                unused = payload is not None and not payload.started
                self._counters.add("no_payload" if unused else reason)
                setattr(action, _SLOT, outer)

        return execute

    def configure_module(self, original: Method) -> Method:
        def configure(action: Any, module_name: Any, module_args: Any, task_vars: Any) -> Any:
            payload = getattr(action, _SLOT)
            if payload is None or payload.module_name != module_name:
                return original(action, module_name, module_args, task_vars)
            try:
                payload.arguments = self._adapter.encode(module_args).encode()
            except TypeError:
                setattr(action, _SLOT, None)
                return original(action, module_name, module_args, task_vars)
            return self._adapter.built(payload)

        return configure

    def is_pipelining_enabled(self, original: Method) -> Method:
        def enabled(action: Any, module_style: Any, wrap_async: Any = False) -> Any:
            payload = getattr(action, _SLOT)
            if payload is not None and payload.arguments and module_style == "new" and not wrap_async:
                return True
            return original(action, module_style, wrap_async)  # before it knows the module, whether to make a directory

        return enabled

    def low_level_execute_command(self, original: Method) -> Method:
        def execute(action: Any, cmd: Any, sudoable: Any = True, in_data: Any = None, *args: Any, **more: Any) -> Any:
            payload = getattr(action, _SLOT)
            if payload is None or in_data is not payload:
                return original(action, cmd, sudoable, in_data, *args, **more)
            connection = action._connection
            connection.exec_command = functools.partial(self._forked, connection, payload)
            try:
                return original(action, cmd, sudoable, in_data, *args, **more)
            finally:
                del connection.exec_command

        return execute

    def make_tmp_path(self, original: Method) -> Method:
        def make(action: Any, remote_user: Any = None) -> Any:
            path = tempdirs.make(action, self._place)
            return original(action, remote_user) if path is None else path

        return make

    def remove_tmp_path(self, original: Method) -> Method:
        def remove(action: Any, tmp_path: Any, force: Any = False) -> Any:
            if not tempdirs.remove(action, self._place, tmp_path, bool(force)):
                original(action, tmp_path, force)

        return remove

    def _decide(self, action: Any, module_name: Any, task_vars: Any, wrap_async: bool) -> tuple[Payload | None, str]:
        """Returns what to execute, or None and why Ansible is to do it."""
        if os.environ.get(SWITCH, "").lower() == "off":
            return None, "disabled"
        if any(getattr(type(action), name) is not self._installed[name] for name in _CONSULTED):
            return None, "overridden"
        try:
            return self._eligibility.payload(action, module_name, task_vars, wrap_async), FORKED
        except Ineligible as refusal:
            return None, refusal.reason
        except Exception:  # pylint: disable=broad-except  # templates and lookups fail again in the original
            return None, "fault"

    def _forked(self, connection: Any, payload: Payload, _command: Any, in_data: Any = None,
                sudoable: Any = True) -> tuple[int, bytes, bytes]:
        """Stands in for exec_command of the local connection."""
        del in_data, sudoable
        if not connection.connected:
            connection._connect()
        return fork.execute(payload, self._adapter, connection.cwd)
