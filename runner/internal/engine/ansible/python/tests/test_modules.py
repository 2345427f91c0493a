"""Tests of k8s_event, osdk_metric and the client of the API server."""

from __future__ import annotations

import http.server
import json
import os
import threading
import unittest
from datetime import datetime, timezone
from typing import Any
from unittest import mock

from collection import Ended, Module, Server, load

api = load("module_utils.api")
k8s_event = load("modules.k8s_event")
osdk_metric = load("modules.osdk_metric")

NOW = datetime(2026, 5, 4, 10, 0, 0, 7, tzinfo=timezone.utc)


def resources(*each: dict[str, Any]) -> dict[str, Any]:
    """Returns the list of a group and version."""
    return {"resources": list(each)}


class FindTest(unittest.TestCase):
    """How kinds are looked up."""

    def setUp(self) -> None:
        self.api = api.Api(None)
        self.api.request = lambda method, path: resources(
            {"name": "things", "kind": "Thing", "singularName": "thing", "shortNames": ["th"], "namespaced": True},
            {"name": "things/status", "kind": "Thing", "namespaced": True},
            {"name": "nodes", "kind": "Node", "namespaced": False},
            {"name": "others", "kind": "things", "namespaced": True},
        )

    def test_names(self) -> None:
        for name, want in {"Thing": "things", "thing": "things", "th": "things", "Node": "nodes", "things": "others"}.items():
            self.assertEqual(self.api.find("example.com/v1", name).plural, want)
        self.assertIsNone(self.api.find("example.com/v1", "Nothing"))

    def test_paths(self) -> None:
        self.assertEqual(self.api.find("example.com/v1", "Thing").path("ns", "a/b", "status"),
                         "/apis/example.com/v1/namespaces/ns/things/a%2Fb/status")
        self.assertEqual(self.api.find("v1", "Node").path("ignored", "n"), "/api/v1/nodes/n")
        self.assertEqual(self.api.find("v1", "Thing").subresources, frozenset(("status",)))
        with self.assertRaises(api.ApiFailure):
            self.api.find("v1", "Thing").path(None, "a")

    def test_a_group_that_is_not_served(self) -> None:
        for status, want in ((404, None), (503, api.ApiFailure)):
            self.api.request = mock.Mock(side_effect=api.ApiFailure(status, "no"))
            if want is None:
                self.assertIsNone(self.api.find("example.com/v1", "Thing"))
            else:
                self.assertRaises(want, self.api.find, "example.com/v1", "Thing")


class ConnectTest(unittest.TestCase):
    """What is said where the client cannot be made."""

    def test_without_the_package(self) -> None:
        with mock.patch.object(api, "IMPORT_ERROR", "Traceback"), self.assertRaises(Ended) as ended:
            api.connect(Module({}))
        self.assertIn("(kubernetes)", ended.exception.said["msg"])

    def test_authorization(self) -> None:
        for params, want in [({}, ""), ({"api_key": "k"}, "Bearer k"), ({"username": "u"}, ""), ({"username": "u", "password": "p"}, "Basic dTpw")]:
            self.assertEqual(api._authorization(params), want)


def event_params(**params: Any) -> dict[str, Any]:
    """Returns the arguments of k8s_event."""
    return {"state": "present", "name": "it", "namespace": "ns", "message": "m", "reason": "R", "type": "Normal", "reportingComponent": None,
            "source": None, "involvedObject": None, "appendTimestamp": False, **params}


class EventTest(unittest.TestCase):
    """Which Events are recorded."""

    def record(self, server: Any, check: bool = False, **params: Any) -> Any:
        server.find = mock.Mock(return_value=None)
        return k8s_event.EventRecorder(Module(event_params(**params), check), server, NOW).run()

    def test_new(self) -> None:
        server = Server(GET=[api.ApiFailure(404, "Not Found")], POST=[{"made": True}])
        self.assertEqual(self.record(server, source={"component": "c"}), {"changed": True, "result": {"made": True}})
        method, path, event, _ = server.asked[1]
        self.assertEqual((method, path), ("POST", "/api/v1/namespaces/ns/events"))
        self.assertEqual(event, {
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "it", "namespace": "ns"}, "type": "Normal", "reason": "R",
            "message": "m", "count": 1, "firstTimestamp": "2026-05-04T10:00:00Z", "lastTimestamp": "2026-05-04T10:00:00Z",
            "involvedObject": {"namespace": "ns"}, "source": {"component": "c"}})

    def test_again(self) -> None:
        old = {"reason": "R", "count": 4, "firstTimestamp": "2020-01-01T00:00:00Z"}
        for reason, count, first in (("R", 5, "2020-01-01T00:00:00Z"), ("S", 1, "2026-05-04T10:00:00Z")):
            server = Server(GET=[old], PATCH=[{}])
            self.record(server, reason=reason)
            event = server.asked[1][2]
            self.assertEqual((event["count"], event["firstTimestamp"]), (count, first))

    def test_check_mode(self) -> None:
        server = Server(GET=[{"reason": "R", "count": 4}])
        self.assertEqual(self.record(server, check=True)["result"]["count"], 5)
        self.assertTrue(self.record(server, check=True, state="absent")["changed"])
        self.assertEqual(set(server.methods()), {"GET"})

    def test_a_name_with_the_time(self) -> None:
        self.assertEqual(k8s_event.stamped("it", NOW), "it.20260504t100000000007")
        long = k8s_event.stamped("x" * 230 + "-" + "y" * 50, NOW)
        self.assertEqual((len(long), long[229:232]), (252, "x.2"))
        server = Server(POST=[{}])
        involved = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "one", "namespace": "ns"}
        self.record(server, appendTimestamp=True, involvedObject=involved)
        self.assertEqual(server.asked[0][2]["involvedObject"], involved)  # AO 7.4: it was left out

    def test_made_or_deleted_in_between(self) -> None:
        conflict, missing = api.ApiFailure(409, "AlreadyExists"), api.ApiFailure(404, "Not Found")
        server = Server(GET=[missing, {"reason": "R", "count": 1}], POST=[conflict], PATCH=[{"count": 2}])
        self.assertEqual(self.record(server)["result"], {"count": 2})
        server = Server(GET=[missing], POST=[conflict])
        self.assertRaises(api.ApiFailure, self.record, server)
        server = Server(GET=[{}], DELETE=[missing])
        self.assertEqual(self.record(server, state="absent"), {"changed": True, "result": {}})


class MetricTest(unittest.TestCase):
    """What is reported, and to whom."""

    def setUp(self) -> None:
        self.answer = (200, b"")
        self.heard: list[tuple[str, Any]] = []
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Hears a report."""

            def do_POST(self) -> None:
                test.heard.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(test.answer[0])
                self.end_headers()
                self.wfile.write(test.answer[1])

            def log_message(self, *_args: Any) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{server.server_port}/metrics"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def run_module(self, check: bool = False, **params: Any) -> Ended:
        nothing = dict.fromkeys(("counter", "gauge", "histogram", "summary"))
        with self.assertRaises(Ended) as ended:
            osdk_metric.run(Module({"name": "n", "description": "d", "address": self.address, **nothing, **params}, check))
        return ended.exception

    def test_only_what_is_set_is_sent(self) -> None:
        for kind, given, want in [
            ("gauge", {"set": 0.0, "add": None, "increment": None}, {"set": 0.0}),  # AO 10.1 no. 16
            ("counter", {"add": None, "increment": None}, {}),
            ("histogram", {"observe": 2.0}, {"observe": 2.0}),
        ]:
            self.assertEqual(self.run_module(**{kind: given}).said, {"changed": True})
            self.assertEqual(self.heard.pop(), ("/metrics", {"name": "n", "description": "d", kind: want}))

    def test_a_refusal_is_told(self) -> None:
        self.answer = (400, b"a request should contain at least one metric\n")
        ended = self.run_module()
        self.assertEqual((ended.failed, ended.said), (True, {"msg": "a request should contain at least one metric", "status_code": 400}))

    def test_nobody_answers(self) -> None:
        for address in ("http://127.0.0.1:1/metrics", "nonsense"):
            ended = self.run_module(address=address, counter={})
            self.assertTrue(ended.failed)
            self.assertIn(f"Failed to report the metric to {address}: ", ended.said["msg"])

    def test_no_proxy_stands_in_the_way(self) -> None:
        with mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}):
            self.assertFalse(self.run_module(counter={}).failed)

    def test_check_mode(self) -> None:
        self.assertEqual(self.run_module(check=True, counter={}).said, {"changed": True})
        self.assertEqual(self.heard, [])


if __name__ == "__main__":
    unittest.main()
