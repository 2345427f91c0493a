"""Undoes what the Kubernetes client has taken from the environment or kept from earlier use."""

from __future__ import annotations

import os
import sys
from typing import Any

_DEFAULT_KUBECONFIG = "~/.kube/config"
_LOCATION = "KUBE_CONFIG_DEFAULT_LOCATION"
_POOLS = ("ansible_collections.kubernetes.core.plugins.module_utils.k8s.client",)


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
