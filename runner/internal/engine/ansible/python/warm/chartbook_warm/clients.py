"""Readies the Kubernetes client for forks, and undoes what it has taken from the environment or kept from earlier use."""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

_DEFAULT_KUBECONFIG = "~/.kube/config"
_LOCATION = "KUBE_CONFIG_DEFAULT_LOCATION"
_POOLS = ("ansible_collections.kubernetes.core.plugins.module_utils.k8s.client",)


class _Yaml(types.ModuleType):
    """The yaml module, with a short way for what is JSON, as the kubeconfig of runs is.

    The client's parser of YAML is written in Python and takes milliseconds, in each module.
    """

    def __init__(self, original: Any) -> None:
        super().__init__("yaml")
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def safe_load(self, stream: Any) -> Any:
        """Returns what is in a file or a text."""
        text = stream
        if hasattr(stream, "seek"):
            text = stream.read()
            stream.seek(0)
        if text[:1] in ("{", b"{"):
            try:
                return json.loads(text)
            except ValueError:  # other YAML begins with a brace, too
                pass
        return self._original.safe_load(stream)


def prepare() -> None:
    """Has the client read a kubeconfig quickly, if it is there."""
    module: Any = sys.modules.get("kubernetes.config.kube_config")
    if module is not None and isinstance(getattr(module, "yaml", None), types.ModuleType):
        module.yaml = _Yaml(module.yaml)


def reset() -> None:
    """Has the client read its settings as if imported now, and forget credentials and connections.

    The client reads KUBECONFIG once, when it is imported. Its default configuration and the collection's connections
    hold the credentials of whoever used them last in this process: a lookup in a template, say.
    """
    location = os.environ.get("KUBECONFIG", _DEFAULT_KUBECONFIG)
    for name in ("kubernetes.config", "kubernetes.config.kube_config"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, _LOCATION):
            setattr(module, _LOCATION, location)
    configuration: Any = getattr(sys.modules.get("kubernetes.client.configuration"), "Configuration", None)
    if configuration is not None and hasattr(configuration, "_default"):
        configuration._default = None
    for name in _POOLS:  # by name: a look at all modules would have this process copy the memory of each
        pool = getattr(sys.modules.get(name), "_pool", None)
        if isinstance(pool, dict):
            pool.clear()
