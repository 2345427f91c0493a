"""A small client of the API server, made of the Python package kubernetes.

It asks for one group and version and not for all of them: it writes no cache, and a broken API of someone else does not
matter.
"""

from __future__ import annotations

import base64
import json
import traceback
from typing import Any, NamedTuple
from urllib.parse import quote

from ansible.module_utils.basic import env_fallback, missing_required_lib

try:
    from kubernetes import client, config
    from kubernetes.client.rest import ApiException

    IMPORT_ERROR = None
except ImportError:
    client = config = None
    ApiException = Exception
    IMPORT_ERROR = traceback.format_exc()

REQUEST_TIMEOUT = (10, 60)  # seconds to connect and to answer

# Arguments of the client's configuration, and what they are called there.
_SETTINGS = {
    "host": "host",
    "validate_certs": "verify_ssl",
    "ca_cert": "ssl_ca_cert",
    "client_cert": "cert_file",
    "client_key": "key_file",
    "proxy": "proxy",
}


def _argument(kind: str, name: str, *aliases: str, no_log: bool = False) -> dict[str, Any]:
    variables = ["K8S_AUTH_" + each.upper() for each in (*aliases, name)]
    return {"type": kind, "aliases": list(aliases), "no_log": no_log, "fallback": (env_fallback, variables)}


AUTH_ARGUMENTS = {
    "kubeconfig": _argument("path", "kubeconfig"),
    "context": _argument("str", "context"),
    "host": _argument("str", "host"),
    "api_key": _argument("str", "api_key", no_log=True),
    "username": _argument("str", "username"),
    "password": _argument("str", "password", no_log=True),
    "validate_certs": _argument("bool", "validate_certs", "verify_ssl"),
    "ca_cert": _argument("path", "ca_cert", "ssl_ca_cert"),
    "client_cert": _argument("path", "client_cert", "cert_file"),
    "client_key": _argument("path", "client_key", "key_file"),
    "proxy": _argument("str", "proxy"),
    "persist_config": _argument("bool", "persist_config"),
}


class ApiFailure(Exception):
    """A request that the API server refused or did not answer."""

    def __init__(self, status: int, reason: str, body: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.body = body

    def described(self) -> dict[str, Any]:
        """Returns the failure as modules return it."""
        return {"status": self.status, "reason": self.reason, "body": self.body}


class Resource(NamedTuple):
    """A kind as the API server serves it."""

    prefix: str  # of the path: /api/v1 or /apis/group/version
    api_version: str
    kind: str
    plural: str
    namespaced: bool
    subresources: frozenset[str]

    def path(self, namespace: str | None, name: str = "", subresource: str = "") -> str:
        """Returns the path of the list, of an object or of a part of it."""
        parts = [self.prefix]
        if self.namespaced:
            if not namespace:
                raise ApiFailure(0, f"{self.api_version}.{self.kind} lives in namespaces, and none is given")
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/".join(parts)


class Api:
    """Sends requests. The caller takes care of ApiFailure."""

    def __init__(self, api_client: Any) -> None:
        self._client = api_client

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Returns the answer's JSON."""
        headers = {"Accept": "application/json", "Content-Type": content_type}
        try:
            answer = self._client.call_api(
                path, method, {}, [], headers, body=body, post_params=[], files={}, auth_settings=["BearerToken"],
                _preload_content=False, _return_http_data_only=True, _request_timeout=REQUEST_TIMEOUT)
            return json.loads(answer.data)
        except ApiException as refused:
            raise ApiFailure(refused.status or 0, str(refused.reason or refused), _text(refused.body)) from refused
        except Exception as error:  # urllib3's, and those of text that is no JSON  pylint: disable=broad-except
            raise ApiFailure(0, f"{method} {path}: {error}") from error

    def find(self, api_version: str, kind: str) -> Resource | None:
        """Looks a kind up by its kind, plural, singular or short name; None when it is not served."""
        prefix = ("/apis/" if "/" in api_version else "/api/") + quote(api_version)
        try:
            served = self.request("GET", prefix).get("resources") or []
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise
        whole = [each for each in served if "/" not in each["name"]]
        for names in (lambda each: [each["kind"]], lambda each: [each["name"]],
                      lambda each: [each.get("singularName")], lambda each: each.get("shortNames") or []):
            for each in whole:
                if kind in names(each):
                    return _resource(prefix, api_version, each, served)
        return None


def _resource(prefix: str, api_version: str, found: dict[str, Any], served: list[dict[str, Any]]) -> Resource:
    parts = (each["name"].partition("/") for each in served)
    subresources = frozenset(part for plural, _, part in parts if part and plural == found["name"])
    return Resource(prefix, api_version, found["kind"], found["name"], bool(found["namespaced"]), subresources)


def connect(module: Any) -> Api:
    """Returns the way to the API server that the module's arguments name, or ends the module."""
    if IMPORT_ERROR is not None:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=IMPORT_ERROR)
    try:
        return Api(_client(module.params))
    except Exception as error:  # each kind of bad configuration has its own  pylint: disable=broad-except
        module.fail_json(msg=f"Failed to set up the client of the API server: {error}")
        raise


def find(module: Any, api: Api, api_version: str, kind: str) -> Resource:
    """Looks a kind up, or ends the module."""
    try:
        resource = api.find(api_version, kind)
    except ApiFailure as failure:
        module.fail_json(msg=f"Failed to ask the API server for {api_version}: {failure}", error=failure.described())
        raise
    if resource is None:
        module.fail_json(msg=f"Failed to find exact match for {api_version}.{kind} by [kind, name, singularName, shortNames]")
        raise AssertionError("unreachable")
    return resource


def _client(params: dict[str, Any]) -> Any:
    settings = _configuration(params)
    for argument, attribute in _SETTINGS.items():
        if params.get(argument) is not None:
            setattr(settings, attribute, params[argument])
    header = _authorization(params)
    if header:
        settings.api_key, settings.refresh_api_key_hook = {}, None
    api_client = client.ApiClient(settings)
    if header:
        api_client.set_default_header("authorization", header)
    return api_client


def _configuration(params: dict[str, Any]) -> Any:
    """Returns what is to be had without the single arguments: nothing, the named kubeconfig, the pod's account or the
    user's kubeconfig."""
    if params.get("host") and _authorization(params):
        return client.Configuration()
    named = params.get("kubeconfig") or params.get("context")
    try:
        if named:
            raise config.ConfigException("a kubeconfig is named")
        config.load_incluster_config()
    except config.ConfigException:
        config.load_kube_config(config_file=params.get("kubeconfig"), context=params.get("context"),
                                persist_config=bool(params.get("persist_config")))
    return client.Configuration.get_default_copy()


def _authorization(params: dict[str, Any]) -> str:
    if params.get("api_key"):
        return "Bearer " + params["api_key"]
    if params.get("username") and params.get("password"):
        pair = f"{params['username']}:{params['password']}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    return ""


def _text(body: Any) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body or "")
