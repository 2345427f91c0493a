"""Tells Chartbook what happens in a play: one JSON object per line, written to an inherited descriptor or a named pipe.

The plugin loads by itself when its folder is on the callback path, beside whatever callbacks the user has chosen, and
does nothing when neither is named. The pipe is for ansible-runner, which closes all descriptors that it inherits. It
never writes a task's arguments, and of results only the few fields in _RESULT_FIELDS; what no_log hides stays hidden. No
fault of its own may disturb a run.

The form of a line is that of ansible-runner's event files, so that tools that read those go on working.
"""

from __future__ import annotations

import functools
import json
import os
import select
import stat
import threading
import time
import uuid
from datetime import datetime, timezone
from typing import Any, Callable, Iterable, Mapping

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: chartbook_events
type: notification
short_description: Streams events to Chartbook
description:
  - Writes one JSON object per event to the descriptor that the environment variable CHARTBOOK_EVENTS_FD names, or to
    the named pipe of CHARTBOOK_EVENTS_PIPE.
  - Does nothing when neither is set.
requirements:
  - started by Chartbook
"""

FD_VARIABLE = "CHARTBOOK_EVENTS_FD"
PIPE_VARIABLE = "CHARTBOOK_EVENTS_PIPE"

MAX_EVENT = 256 << 10  # bytes of one line
MAX_TEXT = 32 << 10  # characters of what the play printed for one event
MAX_FIELD = 8 << 10  # characters of one field of a result
MAX_OUTPUTS = 256 << 10  # bytes of all that set_stats has collected
MAX_NAME = 1 << 10  # characters of a task's name
MAX_HOSTS = 500  # in the recap
MAX_DEPTH = 32  # of data that set_stats has collected

_RESULT_FIELDS = ("msg", "reason", "skip_reason", "stderr", "module_stderr")
_REQUEUE_ACTIONS = ("requeue_after", "operator_sdk.util.requeue_after")


class EventStream:
    """Numbers events and writes them to a descriptor until that fails."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._counter = 0
        self._lock = threading.Lock()  # results come from another thread than starts
        self.broken = False

    @classmethod
    def from_environment(cls, environ: Any) -> EventStream | None:
        """Returns the stream that the environment names, if any.

        The names are taken out of the environment and the descriptor is kept from programs that tasks start: neither a
        nested ansible-playbook nor a daemon may write into this run's events.
        """
        number, path = environ.pop(FD_VARIABLE, ""), environ.pop(PIPE_VARIABLE, "")
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK) if path else int(number)
        except (ValueError, OSError):
            return None
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.set_inheritable(fd, False)
                return cls(fd)
        except OSError:
            return None
        if path:
            os.close(fd)
        return None

    def send(self, event: str, data: Mapping[str, Any], text: str = "") -> None:
        """Writes one event. Parts that make it too long are left out, the printed text first."""
        with self._lock:
            if self.broken:
                return
            self._counter += 1
            record: dict[str, Any] = {
                "uuid": str(uuid.uuid4()),
                "counter": self._counter,
                "event": event,
                "created": datetime.now(timezone.utc).isoformat(timespec="microseconds"),
                "pid": os.getpid(),
                "stdout": text[:MAX_TEXT],
                "event_data": dict(data),
            }
            for shorten in (self._drop_text, self._drop_result):
                line = encode(record)
                if len(line) <= MAX_EVENT:
                    break
                shorten(record)
            else:
                line = encode(record)
            self._write(line)

    @staticmethod
    def _drop_text(record: dict[str, Any]) -> None:
        record["stdout"] = ""
        record["truncated"] = True

    @staticmethod
    def _drop_result(record: dict[str, Any]) -> None:
        record["event_data"].pop("res", None)
        record["event_data"].pop("outputs", None)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                try:
                    rest = rest[os.write(self._fd, rest):]
                except BlockingIOError:
                    select.select([], [self._fd], [])
        except OSError:  # nobody reads any more
            self.broken = True


class PrintedText:
    """Collects what the play prints, to be handed over with the next event.

    The user's output callback is called before this plugin, so that the text collected since the last event is that
    of the present one.
    """

    def __init__(self, display: Any) -> None:
        self._print = display.display
        self._parts: list[str] = []
        self._size = 0
        self._lock = threading.Lock()
        display.display = self._record

    def _record(self, msg: Any, color: Any = None, stderr: bool = False, screen_only: bool = False,
                log_only: bool = False, *args: Any, **kwargs: Any) -> Any:
        if not stderr and not log_only:
            with self._lock:
                if self._size < MAX_TEXT:
                    part = str(msg)[:MAX_TEXT]
                    self._parts.append(part)
                    self._size += len(part) + 1
        return self._print(msg, color, stderr, screen_only, log_only, *args, **kwargs)

    def take(self) -> str:
        """Returns the text collected since the last call."""
        with self._lock:
            parts, self._parts, self._size = self._parts, [], 0
        return "\n".join(parts)[:MAX_TEXT]


def encode(record: Mapping[str, Any]) -> bytes:
    """Returns a record as a line of ASCII."""
    return json.dumps(record, allow_nan=False, default=str).encode("ascii") + b"\n"


def plain(value: Any, depth: int = 0) -> Any:
    """Returns value as JSON can say it. Vaulted text is not decrypted."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(value)  # the difference is NaN for infinities too
    if hasattr(value, "_ciphertext"):
        return "(vaulted)"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return str(value)
    if depth >= MAX_DEPTH:
        return "(too deep)"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def as_text(value: Any) -> str:
    """Returns one field of a result as bounded text; of long output the end says most."""
    text = value if isinstance(value, str) else json.dumps(plain(value), default=str)
    return text[:MAX_FIELD]


def host_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns counts by host; those of very many hosts are added up, but for localhost."""
    shown = {str(host): int(count) for host, count in list(counts.items())[:MAX_HOSTS]}
    if len(counts) > len(shown):
        shown["(others)"] = sum(counts.values()) - sum(shown.values())
        if "localhost" in counts and "localhost" not in shown:
            shown["localhost"] = int(counts["localhost"])
            shown["(others)"] -= shown["localhost"]
    return shown


def will_be_rescued(task: Any) -> bool:
    """Tells whether the failure of task leads to a rescue section: some block above it has one, and task is not in it.

    Ansible decides that itself, but tells callbacks only in the final statistics. Of a file that is imported, the block
    above holds the tasks and not the import, although that is the next step on the way up; hence all steps are tried.
    """
    below = {getattr(task, "_uuid", None)}
    parent = getattr(task, "_parent", None)
    while parent is not None:
        if getattr(parent, "rescue", None) and any(getattr(entry, "_uuid", None) in below for entry in parent.block):
            return True
        below.add(getattr(parent, "_uuid", None))
        parent = getattr(parent, "_parent", None)
    return False


def is_hidden(task: Any) -> bool:
    """Tells whether a task asks for no_log. A condition that is not evaluated yet counts as yes."""
    return bool(getattr(task, "no_log", False))


def task_name(task: Any) -> str:
    """Returns a task's name, for a task with no_log as it stands in the file: evaluated, it may hold a secret."""
    if is_hidden(task):
        source = getattr(task, "_ds", None)
        name = source.get("name") if isinstance(source, Mapping) else None
        return str(name or task.action)[:MAX_NAME]
    return str(task.get_name())[:MAX_NAME]


def requeue_period(task: Any, result: Mapping[str, Any]) -> str | None:
    """Returns the period that a result of requeue_after asks for, None for results of other modules.

    Empty means that no_log has hidden it.
    """
    names = (str(task.action), str(getattr(task, "resolved_action", None)))
    if not any(name in _REQUEUE_ACTIONS for name in names) or "results" in result:
        return None
    return str(result.get("period", ""))


def guarded(handler: Callable[..., None]) -> Callable[..., None]:
    """Keeps a fault of this plugin from becoming one of the play."""

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> None:
        try:
            handler(*args, **kwargs)
        except Exception:  # pylint: disable=broad-except
            pass

    return call


class CallbackModule(CallbackBase):
    """The plugin as ansible-core sees it."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "chartbook_events"
    CALLBACK_NEEDS_ENABLED = False
    CALLBACK_NEEDS_WHITELIST = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stream = EventStream.from_environment(os.environ)
        if stream is None:
            self.disabled = True
            return
        self._stream = stream
        self._text = PrintedText(self._display)
        self._playbook = ""
        self._play = ""
        self._started: dict[tuple[str, str], float] = {}  # by host and task; when a task began

    # Each v2_ method is one notification of ansible-core.

    @guarded
    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._playbook = str(getattr(playbook, "_file_name", ""))
        self._send("playbook_on_start", {})

    @guarded
    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play = str(play.get_name())
        self._started.clear()
        self._send("playbook_on_play_start", {})

    @guarded
    def v2_playbook_on_no_hosts_matched(self) -> None:
        self._send("playbook_on_no_hosts_matched", {})

    @guarded
    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        self._task_start("playbook_on_task_start", task)

    @guarded
    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        self._task_start("playbook_on_handler_task_start", task)

    @guarded
    def v2_playbook_on_cleanup_task_start(self, task: Any) -> None:
        self._task_start("playbook_on_cleanup_task_start", task)

    @guarded
    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        self._started[str(host), str(task._uuid)] = time.monotonic()

    @guarded
    def v2_runner_on_ok(self, result: Any) -> None:
        self._result("runner_on_ok", result, requeue=True)

    @guarded
    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._result("runner_on_failed", result, ignore_errors=bool(ignore_errors))

    @guarded
    def v2_runner_on_skipped(self, result: Any) -> None:
        self._result("runner_on_skipped", result)

    @guarded
    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._result("runner_on_unreachable", result)

    @guarded
    def v2_runner_retry(self, result: Any) -> None:
        self._result("runner_retry", result)

    @guarded
    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._result("runner_item_on_ok", result, requeue=True)

    @guarded
    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._result("runner_item_on_failed", result)

    @guarded
    def v2_runner_item_on_skipped(self, result: Any) -> None:
        self._result("runner_item_on_skipped", result)

    @guarded
    def v2_playbook_on_stats(self, stats: Any) -> None:
        data: dict[str, Any] = {}
        for name in ("processed", "ok", "changed", "failures", "dark", "skipped", "rescued", "ignored"):
            data[name] = host_counts(getattr(stats, name, {}))
        data.update(self._outputs(getattr(stats, "custom", {})))
        self._send("playbook_on_stats", data)

    # What the notifications have in common.

    @staticmethod
    def _outputs(custom: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what set_stats has collected: for the run as a whole, and for localhost where a task said per_host."""
        outputs: dict[str, Any] = {}
        for key in ("localhost", "_run"):
            part = custom.get(key)
            if isinstance(part, Mapping):
                outputs.update(plain(part))
        size = len(encode(outputs))
        if size > MAX_OUTPUTS:
            return {"outputs_bytes": size}
        return {"outputs": outputs} if outputs else {}

    def _send(self, event: str, data: dict[str, Any], hidden: bool = False) -> None:
        text = self._text.take()
        self._stream.send(event, {"playbook": self._playbook, "play": self._play, **data}, "" if hidden else text)

    @staticmethod
    def _task(task: Any) -> dict[str, Any]:
        data = {
            "task": task_name(task),
            "task_uuid": str(task._uuid),
            "task_action": str(task.action),
            "task_path": str(task.get_path() or ""),
        }
        role = getattr(task, "_role", None)
        if role is not None:
            data["role"] = str(role.get_name())
        return data

    def _task_start(self, event: str, task: Any) -> None:
        self._send(event, self._task(task), hidden=is_hidden(task))

    def _result(self, event: str, outcome: Any, requeue: bool = False, ignore_errors: bool = False) -> None:
        task, host, result = _parts(outcome)
        hidden = "censored" in result or is_hidden(task)
        data = self._task(task)
        data["host"] = host
        data["changed"] = bool(result.get("changed", False))
        data["hidden"] = hidden
        data["res"] = {} if hidden else self._fields(result, event)
        if event == "runner_on_failed":
            data["ignore_errors"] = ignore_errors
            data["rescued"] = will_be_rescued(task)
        started = self._started.get((host, data["task_uuid"]))
        if started is not None:
            data["duration"] = round(time.monotonic() - started, 6)
        period = requeue_period(task, result) if requeue else None
        if period is not None:
            data["requeue_after"] = period
        self._send(event, data, hidden=hidden)

    @staticmethod
    def _fields(result: Mapping[str, Any], event: str) -> dict[str, Any]:
        """Returns the fields of a result that help to understand it. Errors are of interest in failures only."""
        fields: dict[str, Any] = {}
        for name in _RESULT_FIELDS:
            value = result.get(name)
            if value and (not name.endswith("stderr") or "failed" in event or "unreachable" in event):
                fields[name] = value[-MAX_FIELD:] if name.endswith("stderr") and isinstance(value, str) else as_text(value)
        for name in ("rc", "attempts", "retries"):
            if isinstance(result.get(name), int):
                fields[name] = int(result[name])
        return fields


def _parts(outcome: Any) -> tuple[Any, str, Mapping[str, Any]]:
    """Returns task, host name and result data of what ansible-core hands to callbacks.

    The public names exist since 2.19; before, there were only those with an underscore.
    """
    task = getattr(outcome, "task", None) or outcome._task
    host = getattr(outcome, "host", None) or outcome._host
    result = getattr(outcome, "result", None)
    if result is None:
        result = outcome._result
    return task, str(host.get_name()), result if isinstance(result, Mapping) else {}
