"""Lets the Kubernetes client for Python see the KUBECONFIG of each run and of each task."""

from __future__ import annotations

import os
import sys

_NAME = "KUBE_CONFIG_DEFAULT_LOCATION"
_PLACES = ("kubernetes.config.kube_config", "kubernetes.config")


def refresh() -> None:
    """Makes the client look where KUBECONFIG says at present: it reads that variable only when it is imported."""
    location = os.environ.get("KUBECONFIG", "~/.kube/config")
    for place in _PLACES:
        module = sys.modules.get(place)
        if module is not None and hasattr(module, _NAME):
            setattr(module, _NAME, location)
