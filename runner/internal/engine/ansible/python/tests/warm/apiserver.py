"""As much of a Kubernetes API server as it takes to read one ConfigMap, with tokens."""

from __future__ import annotations

import http.server
import json
import os
import threading
from typing import Any

TOKENS = ("good", "other", "third")

_RESOURCES = {
    "kind": "APIResourceList", "groupVersion": "v1",
    "resources": [{"name": "configmaps", "singularName": "configmap", "namespaced": True, "kind": "ConfigMap",
                   "verbs": ["get", "list", "patch", "create"]}],
}
_ANSWERS: dict[str, Any] = {
    "/version": {"major": "1", "minor": "30", "gitVersion": "v1.30.0"},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": _RESOURCES,
    "/api/v1/namespaces/default/configmaps/sample": {
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "sample", "namespace": "default"}, "data": {}},
}


class Server:
    """Listens on loopback; what reads of the ConfigMap have said of themselves is in `seen`, by order."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers one request."""

            def do_GET(self) -> None:  # pylint: disable=invalid-name
                """Answers those who have a token."""
                path = self.path.partition("?")[0]
                token = self.headers.get("Authorization", "").rpartition(" ")[2]
                if "configmaps/" in path:
                    seen.append(token)
                known = token in TOKENS and path in _ANSWERS
                answer = _ANSWERS[path] if known else {"kind": "Status", "message": "no", "code": 401}
                self._send(200 if known else 401, json.dumps(answer).encode())

            def _send(self, code: int, body: bytes) -> None:
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
                """Says nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def kubeconfig(self, folder: str, token: str) -> str:
        """Writes a kubeconfig whose token comes from a program, for a moment, and returns its path.

        A client that has loaded it asks the program once more before each request.
        """
        path, answer = os.path.join(folder, token), os.path.join(folder, token + ".json")
        version = "client.authentication.k8s.io/v1beta1"
        with open(answer, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": version, "kind": "ExecCredential",
                       "status": {"token": token, "expirationTimestamp": "2001-01-01T00:00:00Z"}}, file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": self.host}}],
                "users": [{"name": "u", "user": {
                    "exec": {"apiVersion": version, "command": "cat", "args": [answer], "interactiveMode": "Never"}}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            }, file)
        return path

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
