"""Undoes what the Kubernetes client has taken from the environment or kept from earlier use."""

from __future__ import annotations

import os
import sys
from typing import Any

_DEFAULT_KUBECONFIG = "~/.kube/config"
_LOCATION = "KUBE_CONFIG_DEFAULT_LOCATION"


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
    for name, module in list(sys.modules.items()):
        if name.startswith("ansible_collections.") and name.endswith(".plugins.module_utils.k8s.client"):
            pool = getattr(module, "_pool", None)
            if isinstance(pool, dict):
                pool.clear()
