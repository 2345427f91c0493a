"""Tests of the callback plugin. They run with or without ansible-core: python3 -m unittest discover -s tests"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import types
import unittest
from typing import Any


def load_plugin() -> Any:
    """Loads the plugin, with a stand-in for ansible-core where that is missing."""
    try:
        import ansible.plugins.callback  # noqa: F401  pylint: disable=unused-import
    except ImportError:
        base = types.ModuleType("ansible.plugins.callback")
        base.CallbackBase = type("CallbackBase", (), {})  # type: ignore[attr-defined]
        sys.modules.update({
            "ansible": types.ModuleType("ansible"),
            "ansible.plugins": types.ModuleType("ansible.plugins"),
            "ansible.plugins.callback": base,
        })
    path = pathlib.Path(__file__).parent.parent / "callback" / "chartbook_events.py"
    spec = importlib.util.spec_from_file_location("chartbook_events", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["chartbook_events"] = module
    spec.loader.exec_module(module)
    return module


plugin = load_plugin()


class Thing:
    """Anything with attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Display:
    """What the play prints on."""

    def __init__(self) -> None:
        self.printed: list[str] = []

    def display(self, msg: str, *_args: Any, **_kwargs: Any) -> None:
        self.printed.append(msg)


class Task(Thing):
    """A task as the plugin sees it."""

    def __init__(self, **attributes: Any) -> None:
        defaults = {"name": "do it", "action": "command", "no_log": False, "_uuid": "task-1", "_role": None, "_parent": None}
        super().__init__(**{**defaults, **attributes})

    def get_name(self) -> str:
        return self.name

    def get_path(self) -> str:
        return "/play.yml:7"


class EventsTest(unittest.TestCase):
    """Runs a plugin whose events end up in self.events()."""

    def setUp(self) -> None:
        self.read_end, self.write_end = os.pipe()
        os.environ[plugin.FD_VARIABLE] = str(self.write_end)
        self.display = Display()
        self.callback = plugin.CallbackModule.__new__(plugin.CallbackModule)
        self.callback._display = self.display
        stream = plugin.EventStream.from_environment(os.environ)
        assert stream is not None
        self.callback._stream = stream
        self.callback._text = plugin.PrintedText(self.display)
        self.callback._playbook = self.callback._play = ""
        self.callback._started = {}

    def tearDown(self) -> None:
        for fd in (self.read_end, self.write_end):
            try:
                os.close(fd)
            except OSError:
                pass

    def events(self) -> list[dict[str, Any]]:
        os.close(self.write_end)
        with os.fdopen(os.dup(self.read_end), "rb") as lines:
            return [json.loads(line) for line in lines]

    @staticmethod
    def outcome(result: dict[str, Any], **task: Any) -> Any:
        host = Thing(get_name=lambda: "localhost")
        return Thing(_host=host, _task=Task(**task), _result=result)

    def test_results_carry_only_named_fields(self) -> None:
        self.callback.v2_runner_on_failed(self.outcome({
            "msg": "no", "rc": 2, "stderr": "bad", "cmd": ["s3cret"], "invocation": {"module_args": "s3cret"}, "stdout": "s3cret",
        }))
        (event,) = self.events()
        self.assertEqual(event["event_data"]["res"], {"msg": "no", "rc": 2, "stderr": "bad"})
        self.assertNotIn("s3cret", json.dumps(event))

    def test_no_log_hides_result_text_and_evaluated_name(self) -> None:
        self.display.display("TASK [log in as s3cret]")
        task = {"no_log": True, "name": "log in as s3cret", "_ds": {"name": "log in as {{ user }}"}}
        self.callback.v2_playbook_on_task_start(Task(**task), False)
        self.display.display("ok: s3cret")
        self.callback.v2_runner_on_ok(self.outcome({"msg": "s3cret"}, **task))
        self.callback.v2_runner_on_ok(self.outcome({"censored": "hidden"}, no_log="{{ yes }}", name="s3cret", action="uri"))
        events = self.events()
        self.assertNotIn("s3cret", json.dumps(events))
        self.assertEqual([e["event_data"]["task"] for e in events], ["log in as {{ user }}", "log in as {{ user }}", "uri"])
        self.assertTrue(events[1]["event_data"]["hidden"] and events[2]["event_data"]["hidden"])

    def test_names_of_ansible_219_are_understood(self) -> None:
        outcome = Thing(host=Thing(get_name=lambda: "web"), task=Task(), result={"msg": "hi", "changed": True})
        self.callback.v2_runner_on_ok(outcome)
        (event,) = self.events()
        self.assertEqual((event["event_data"]["host"], event["event_data"]["changed"]), ("web", True))

    def test_printed_text_goes_with_the_next_event(self) -> None:
        self.display.display("TASK [a]", color="blue")
        self.display.display("a warning", stderr=True)
        self.display.display("for the log file", log_only=True)
        self.callback.v2_playbook_on_task_start(Task(), False)
        self.callback.v2_playbook_on_task_start(Task(), False)
        self.assertEqual([e["stdout"] for e in self.events()], ["TASK [a]", ""])
        self.assertEqual(len(self.display.printed), 3)

    def test_events_are_numbered_and_bounded(self) -> None:
        self.callback._stream.send("a", {"res": {"msg": "x" * 10}}, "y" * plugin.MAX_TEXT * 2)
        plugin_limit, plugin.MAX_EVENT = plugin.MAX_EVENT, 1000
        try:
            self.callback._stream.send("b", {"res": {"msg": "x" * 10}}, "y" * 2000)
            self.callback._stream.send("c", {"res": {"msg": "x" * 2000}, "task": "t"}, "y" * 2000)
        finally:
            plugin.MAX_EVENT = plugin_limit
        first, second, third = self.events()
        self.assertEqual([first["counter"], second["counter"], third["counter"]], [1, 2, 3])
        self.assertEqual(len(first["stdout"]), plugin.MAX_TEXT)
        self.assertEqual((second["stdout"], second["event_data"]), ("", {"res": {"msg": "x" * 10}}))
        self.assertEqual((third["truncated"], third["event_data"]), (True, {"task": "t"}))

    def test_a_reader_that_has_gone_disturbs_nothing(self) -> None:
        os.close(self.read_end)
        for _ in range(3):
            self.callback.v2_playbook_on_task_start(Task(), False)
        self.assertTrue(self.callback._stream.broken)

    def test_a_fault_disturbs_nothing(self) -> None:
        self.callback.v2_runner_on_ok(Thing())
        self.callback.v2_playbook_on_stats(Thing(ok={"h": "many"}))
        self.assertEqual(self.events(), [])

    def test_recap_with_outputs(self) -> None:
        custom = {"_run": {"a": 1, "nan": float("nan"), 2: {"x"}}, "localhost": {"a": 2, "b": b"\xff"}, "other": {"c": 3}}
        self.callback.v2_playbook_on_stats(Thing(ok={"localhost": 2}, failures={}, custom=custom))
        (event,) = self.events()
        self.assertEqual(event["event_data"]["ok"], {"localhost": 2})
        self.assertEqual(event["event_data"]["outputs"], {"a": 1, "nan": "nan", "2": ["x"], "b": "\ufffd"})

    def test_outputs_that_are_too_many(self) -> None:
        self.callback.v2_playbook_on_stats(Thing(custom={"_run": {"a": "x" * plugin.MAX_OUTPUTS}}))
        (event,) = self.events()
        self.assertGreater(event["event_data"]["outputs_bytes"], plugin.MAX_OUTPUTS)
        self.assertNotIn("outputs", event["event_data"])

    def test_requeue(self) -> None:
        cases = [
            ("requeue_after", None, {"period": "5s"}, "5s"),
            ("operator_sdk.util.requeue_after", None, {"period": "5s"}, "5s"),
            ("later", "operator_sdk.util.requeue_after", {"period": "5s"}, "5s"),
            ("other.requeue_after", "my.other.requeue_after", {"period": "5s"}, None),
            ("command", "ansible.builtin.command", {"period": "5s"}, None),
            ("requeue_after", None, {"results": [{"period": "5s"}]}, None),  # told item by item
            ("requeue_after", None, {"censored": "hidden"}, ""),
        ]
        for action, resolved, result, want in cases:
            with self.subTest(action=action, result=result):
                self.assertEqual(plugin.requeue_period(Task(action=action, resolved_action=resolved), result), want)


class StreamTest(unittest.TestCase):
    def test_only_a_pipe_is_written_to(self) -> None:
        with open(os.devnull, "wb") as sink:
            for value in ("", "x", "9999", str(sink.fileno())):
                with self.subTest(value=value):
                    environ = {plugin.FD_VARIABLE: value}
                    self.assertIsNone(plugin.EventStream.from_environment(environ))
                    self.assertEqual(environ, {})

    def test_the_descriptor_is_kept_from_other_programs(self) -> None:
        read_end, write_end = os.pipe()
        os.set_inheritable(write_end, True)
        environ = {plugin.FD_VARIABLE: str(write_end)}
        self.assertIsNotNone(plugin.EventStream.from_environment(environ))
        self.assertEqual(environ, {})
        self.assertFalse(os.get_inheritable(write_end))
        os.close(read_end)
        os.close(write_end)

    def test_a_named_pipe_carries_events_where_descriptors_are_closed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events")
            os.mkfifo(path, 0o600)
            reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            environ = {plugin.PIPE_VARIABLE: path}
            stream = plugin.EventStream.from_environment(environ)
            self.assertEqual(environ, {})
            assert stream is not None
            self.assertFalse(os.get_inheritable(stream._fd))
            stream.send("playbook_on_start", {})
            self.assertEqual(json.loads(os.read(reader, 65536))["event"], "playbook_on_start")
            os.close(stream._fd)
            os.close(reader)
            self.assertIsNone(plugin.EventStream.from_environment({plugin.PIPE_VARIABLE: path}), "nobody reads")
            plain = os.path.join(folder, "plain")
            with open(plain, "w", encoding="ascii"):
                pass
            self.assertIsNone(plugin.EventStream.from_environment({plugin.PIPE_VARIABLE: plain}), "no pipe")


class PlainTest(unittest.TestCase):
    def test_values(self) -> None:
        class Text(str):
            pass

        class Vaulted(str):
            _ciphertext = b"x"

        deep: list[Any] = []
        for _ in range(100):
            deep = [deep]
        cases = [
            (None, None), (True, True), (2**60, 2**60), (0.5, 0.5), (float("inf"), "inf"), (Text("a"), "a"),
            ((1, 2), [1, 2]), ({1: Text("a")}, {"1": "a"}), (ValueError("x"), "x"),
        ]
        for value, want in cases:
            with self.subTest(value=value):
                got = plugin.plain(value)
                self.assertEqual(got, want)
                self.assertIs(type(got), type(want))
        self.assertIn("(too deep)", json.dumps(plugin.plain(deep)))
        self.assertEqual(plugin.plain(Thing(_ciphertext=b"x")), "(vaulted)")
        self.assertEqual(plugin.plain(Vaulted("x")), "(vaulted)")


class HostCountsTest(unittest.TestCase):
    def test_many_hosts(self) -> None:
        self.assertEqual(plugin.host_counts({"a": 1, "localhost": 2}), {"a": 1, "localhost": 2})
        many = {f"host-{n}": 1 for n in range(plugin.MAX_HOSTS + 10)}
        counts = plugin.host_counts({**many, "localhost": 5})
        self.assertEqual((len(counts), counts["localhost"], counts["(others)"]), (plugin.MAX_HOSTS + 2, 5, 10))


class RescueTest(unittest.TestCase):
    def test_sections(self) -> None:
        outer = Thing(_uuid="outer", rescue=["r"], block=[], _parent=None)
        inner = Thing(_uuid="inner", rescue=[], block=[], _parent=outer)
        imported = Thing(_uuid="import", _parent=outer)  # an import is no block
        inside = Task(_uuid="inside", _parent=inner)
        in_import = Task(_uuid="in import", _parent=imported)
        in_rescue = Task(_uuid="in rescue", _parent=outer)
        outer.block = [Thing(_uuid="inner"), Thing(_uuid="in import")]  # copies keep their ids
        self.assertTrue(plugin.will_be_rescued(inside))
        self.assertTrue(plugin.will_be_rescued(in_import))
        self.assertFalse(plugin.will_be_rescued(in_rescue))
        self.assertFalse(plugin.will_be_rescued(Task()))
        outer.rescue = []
        self.assertFalse(plugin.will_be_rescued(inside))


if __name__ == "__main__":
    unittest.main()
