"""Tests of what a status should be, and of the module that writes it."""

from __future__ import annotations

import unittest
from typing import Any

from collection import Ended, Module, Server, load

api = load("module_utils.api")
status = load("module_utils.status")
k8s_status = load("modules.k8s_status")


class ConditionsTest(unittest.TestCase):
    """Which conditions are taken."""

    def test_taken(self) -> None:
        for why, given, want in [
            ("the least", {"type": "A", "status": "True"}, {"type": "A", "status": "True"}),
            ("what YAML reads as a truth value", {"type": "A", "status": False}, {"type": "A", "status": "False"}),
            ("what is not set is left out", {"type": "A", "status": "Unknown", "message": None}, {"type": "A", "status": "Unknown"}),
            ("as date --rfc-3339 prints it", {"type": "A", "status": "True", "lastTransitionTime": "2026-05-04 10:00:00+02:00"}, None),
            ("with a fraction", {"type": "A", "status": "True", "lastHeartbeatTime": "2026-05-04T10:00:00.123456Z"}, None),
        ]:
            with self.subTest(why):
                self.assertEqual(status.checked([given]), [want or given])

    def test_refused(self) -> None:
        good = {"type": "A", "status": "True"}
        for part, change in [
            ("unknown fields ['colour']", {"colour": "red"}),
            ("has no type", {"type": None}),
            ("has no type", {"type": 3}),
            ("has no status", {"status": None}),
            ("'yes'", {"status": "yes"}),
            ("'Not Camel'", {"reason": "Not Camel"}),
            ("reason of condition 'A' is ''", {"reason": ""}),
            ("'2026-05-04'", {"lastTransitionTime": "2026-05-04"}),
            ("its zone", {"lastTransitionTime": "2026-05-04T10:00:00"}),
        ]:
            with self.subTest(change=change), self.assertRaises(ValueError) as caught:
                status.checked([{**good, **change}])
            self.assertIn(part, str(caught.exception))


class MergeTest(unittest.TestCase):
    """What is contained in what, and what a merge makes of it."""

    def test_holds(self) -> None:
        for why, current, wanted, in_subset, if_replaced in [
            ("nothing", {"a": 1}, {}, True, True),
            ("the same", {"a": 1}, {"a": 1}, True, True),
            ("another value", {"a": 1}, {"a": 2}, False, False),
            ("a key more", {"a": 1}, {"b": {}}, False, False),
            ("a part", {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, True, True),
            ("a text is no number", {"a": "1"}, {"a": 1}, False, False),
            ("a truth value is no number", {"a": True}, {"a": 1}, False, False),
            ("a whole number is one in any form", {"a": 1}, {"a": 1.0}, True, True),
            ("null for what is not there", {}, {"a": None}, True, True),
            ("null for what is there", {"a": 1}, {"a": None}, False, False),
            ("a part of a list", {"a": [1, 2]}, {"a": [2]}, True, False),
            ("a part of an item", {"a": [{"n": 1, "m": 2}]}, {"a": [{"n": 1}]}, True, False),
            ("another item", {"a": [1]}, {"a": [1, 2]}, False, False),
            ("a list for a map", {"a": {"b": 1}}, {"a": [1]}, False, False),
            ("a map for a text", {"a": "b"}, {"a": {"b": 1}}, False, False),
        ]:
            with self.subTest(why):
                self.assertEqual(status.holds(current, wanted, False), in_subset)
                self.assertEqual(status.holds(current, wanted, True), if_replaced)

    def test_conditions(self) -> None:
        old = [{"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "t0"}, {"type": "B", "status": "False"}]
        for why, wanted, want in [
            ("new ones come last", [{"type": "C", "status": "True"}], [*old, {"type": "C", "status": "True"}]),
            ("another time is no news", [{"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "t1"}], old),
            ("another reason is no transition", [{"type": "A", "status": "True", "reason": "S"}],
             [{"type": "A", "status": "True", "reason": "S", "lastTransitionTime": "t0"}, old[1]]),
            ("another status is one", [{"type": "A", "status": "False", "reason": "R"}], [{"type": "A", "status": "False", "reason": "R"}, old[1]]),
            ("what is no condition is kept once", ["odd", "odd"], [*old, "odd"]),
        ]:
            with self.subTest(why):
                self.assertEqual(status.merge_conditions(old, wanted), want)
        self.assertEqual(status.merge_conditions(None, old), old)

    def test_a_patch_that_does_nothing_is_none(self) -> None:
        current = {"a": 1, "conditions": [{"type": "A", "status": "True", "lastTransitionTime": "t0"}]}
        self.assertIsNone(status.merge_patch(current, {"a": 1, "conditions": [{"type": "A", "status": "True"}]}, True))
        self.assertIsNone(status.merge_patch(None, {}, False))
        patch = status.merge_patch(current, {"b": None, "c": 2, "conditions": [{"type": "B", "status": "True"}]}, False)
        self.assertEqual([each["type"] for each in patch["conditions"]], ["A", "B"])
        self.assertEqual(status.merged(current, patch), {"a": 1, "c": 2, "conditions": patch["conditions"]})


def thing(version: str, **fields: Any) -> dict[str, Any]:
    """Returns an object with a status."""
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one", "resourceVersion": version}, "status": fields}


class WriterTest(unittest.TestCase):
    """Which requests the module sends."""

    def run_module(self, server: Server, wanted: Any, check: bool = False, **params: Any) -> dict[str, Any]:
        module = Module({"name": "one", "namespace": "ns", "replace": False, "replace_lists": False, **params}, check)
        resource = api.Resource("/apis/example.com/v1", "example.com/v1", "Thing", "things", True, frozenset(("status",)))
        return k8s_status.StatusWriter(module, server, resource).run(wanted)

    def test_nothing_is_written_when_nothing_differs(self) -> None:
        for wanted in (None, {}, {"a": 1}):
            server = Server(GET=[thing("1", a=1)])
            self.assertEqual(self.run_module(server, wanted), {"changed": False, "result": thing("1", a=1)})
            self.assertEqual(server.methods(), ["GET"])

    def test_merge(self) -> None:
        server = Server(GET=[thing("1", a=1)], PATCH=[thing("2", a=1, b=2)])
        self.assertEqual(self.run_module(server, {"b": 2}), {"changed": True, "result": thing("2", a=1, b=2)})
        self.assertEqual(server.asked[1], (
            "PATCH", "/apis/example.com/v1/namespaces/ns/things/one/status",
            {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one", "resourceVersion": "1"}, "status": {"b": 2}},
            "application/merge-patch+json"))

    def test_what_the_server_drops_is_no_change(self) -> None:  # UP F6
        server = Server(GET=[thing("1", a=1)], PATCH=[thing("1", a=1)])
        self.assertFalse(self.run_module(server, {"unknown": 2})["changed"])

    def test_replace(self) -> None:
        server = Server(GET=[thing("1", a=1)], PUT=[thing("2", b=2)])
        self.assertEqual(self.run_module(server, {"b": 2}, replace=True), {"changed": True, "result": thing("2", b=2)})
        self.assertEqual(server.asked[1][2], thing("1", b=2))

    def test_check_mode(self) -> None:
        for replace, want in ((False, {"a": 1, "b": 2}), (True, {"b": 2})):
            server = Server(GET=[thing("1", a=1)])
            got = self.run_module(server, {"b": 2}, check=True, replace=replace)
            self.assertEqual((got["changed"], got["result"]["status"], server.methods()), (True, want, ["GET"]))

    def test_somebody_else_wrote_in_between(self) -> None:
        conflict = api.ApiFailure(409, "Conflict")
        server = Server(GET=[thing("1"), thing("2", x=1)], PATCH=[conflict, thing("3", x=1, b=2)])
        self.assertTrue(self.run_module(server, {"b": 2})["changed"])
        self.assertEqual(server.asked[3][2]["metadata"]["resourceVersion"], "2")
        server = Server(GET=[thing("1")], PATCH=[conflict])
        with self.assertRaises(Ended) as ended:
            self.run_module(server, {"b": 2})
        self.assertIn("Failed to write the status: Conflict", ended.exception.said["msg"])
        self.assertEqual(server.methods().count("PATCH"), k8s_status.CONFLICTS)


if __name__ == "__main__":
    unittest.main()
