"""Writes all that ansible-core hands to callbacks, unabridged, as lines of JSON to the file that a variable names.

A test compares what two ways of running a play hand out. So nothing is left out here, arguments and hidden values
included, and the kind of a string that is not a plain one is part of what is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from typing import Any, Callable, Mapping

from ansible.executor.stats import AggregateStats
from ansible.inventory.host import Host
from ansible.playbook import Playbook
from ansible.playbook.included_file import IncludedFile
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: differential_record
type: notification
short_description: Records all notifications
description: Does nothing unless DIFFERENTIAL_EVENTS names a file.
requirements: []
"""

VARIABLE = "DIFFERENTIAL_EVENTS"
MAX_TEXT = 32 << 10  # characters; of longer strings length and digest are written
COUNTERS = ("processed", "ok", "changed", "failures", "dark", "skipped", "rescued", "ignored", "custom")


def text(value: str) -> str:
    """Returns a string with its kind before it, if that is not str."""
    plain = str.__str__(value)
    if len(plain) > MAX_TEXT:
        digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
        plain = "%s... (%d characters, SHA-256 %s)" % (plain[:200], len(plain), digest)
    return plain if type(value) is str else "<%s> %s" % (type(value).__name__, plain)


def show_task(task: Any) -> Any:
    """Returns what a task was when it was handed out."""
    role = getattr(task, "_role", None)
    return {
        "task": text(task.get_name()), "uuid": str(task._uuid), "action": str(task.action), "path": str(task.get_path()),
        "resolved": str(getattr(task, "resolved_action", None)), "role": role and str(role.get_name()),
        "args": show(task.args), "tags": sorted(set(show(task.tags))), "when": show(task.when), "no_log": show(task.no_log),
        "loop": show(task.loop), "environment": show(task.environment), "handler": type(task).__name__,
    }


def show_result(outcome: Any) -> Any:
    """Returns a result in full. Since 2.19 its parts have public names."""
    if hasattr(outcome, "_result"):
        parts = outcome._host, outcome._task, outcome._result, outcome._task_fields
    else:
        parts = outcome.host, outcome.task, outcome.result, outcome.task_fields
    return {"host": str(parts[0]), "of": show_task(parts[1]), "result": show(parts[2]), "fields": show(parts[3])}


def show(value: Any, depth: int = 0) -> Any:
    """Returns a value as JSON can say it."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return repr(value)
    if hasattr(value, "_ciphertext"):
        return "<vaulted>"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bytes):
        return "<bytes> " + repr(value)
    if depth > 40:
        return "<too deep>"
    if isinstance(value, Mapping):
        return {
            str(key): sorted(set(show(item))) if key == "tags" and isinstance(item, list) else show(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(json.dumps(show(item, depth + 1)) for item in value)}
    if isinstance(value, (list, tuple)):
        return [show(item, depth + 1) for item in value]
    return show_object(value)


def show_object(value: Any) -> Any:
    """Returns one of ansible-core's own objects."""
    if hasattr(value, "_task_fields") or hasattr(value, "task_fields"):
        return show_result(value)
    if isinstance(value, Task):
        return show_task(value)
    if isinstance(value, Host):
        return {"host": value.get_name()}
    if isinstance(value, Play):
        return {"play": text(value.get_name()), "hosts": show(value.hosts), "vars": show(value.vars)}
    if isinstance(value, Playbook):
        return {"playbook": str(value._file_name)}
    if isinstance(value, IncludedFile):
        return {
            "file": show(value._filename), "args": show(value._args), "vars": show(value._vars),
            "hosts": [str(host) for host in value._hosts],
        }
    if isinstance(value, AggregateStats):
        return {name: show(getattr(value, name)) for name in COUNTERS}
    return "<%s>" % type(value).__name__


class CallbackModule(CallbackBase):
    """The plugin as ansible-core sees it; its methods are added below."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "differential_record"
    CALLBACK_NEEDS_ENABLED = False
    CALLBACK_NEEDS_WHITELIST = False
    wants_implicit_tasks = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        path = os.environ.get(VARIABLE)
        self.disabled = not path
        self._lock = threading.Lock()
        self._file = open(path or os.devnull, "a", encoding="ascii")

    def record(self, event: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Writes one notification; a fault of its own shows in the record."""
        try:
            shown: Any = {"event": event, "args": [show(arg) for arg in args], "kwargs": show(kwargs)}
        except Exception as error:  # pylint: disable=broad-except
            shown = {"event": event, "fault": repr(error)}
        with self._lock:
            self._file.write(json.dumps(shown) + "\n")
            self._file.flush()


def recorder(event: str) -> Callable[..., None]:
    """Returns a method that records one kind of notification."""

    def method(self: CallbackModule, *args: Any, **kwargs: Any) -> None:
        self.record(event, args, kwargs)

    method.__name__ = event
    return method


for _name in dir(CallbackBase):
    if _name.startswith("v2_") and _name != "v2_on_any":
        setattr(CallbackModule, _name, recorder(_name))
