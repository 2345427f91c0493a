"""Imports ahead what runs need, as far as it is there."""

from __future__ import annotations

import importlib
import ssl
import sys
import types
from collections.abc import Iterable

from . import quiet
from .collection import CollectionsAhead, remember_metadata
from .plugins import PluginsAhead

# _PLUGINS are the types of plugins that are loaded: for all but the first Ansible itself loads all there are.
_PLUGINS = ("action", "callback", "connection", "shell", "become", "filter", "test", "lookup", "strategy", "cache", "vars", "inventory")

# _MODULES are what ansible-core and modules import only when a playbook runs.
_MODULES = (
    "ansible.executor.task_queue_manager", "ansible.executor.playbook_executor", "ansible.executor.process.worker",
    "ansible.executor.module_common", "ansible.module_utils.basic", "ansible.module_utils.facts",
    "multiprocessing.queues", "multiprocessing.popen_fork",
)


class Preload:
    """What has been imported.

    Attributes:
        notes: What could not be.
        collections: Where the collections are, by name.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.collections: dict[str, str] = {}
        self._kept = CollectionsAhead()

    def do(self, collections: Iterable[str]) -> None:
        """Imports plugins, modules and the named collections, and hides them from runs that would not find them."""
        remember_metadata()
        initialize = getattr(sys.modules["ansible.plugins.loader"], "init_plugin_loader", None)
        if initialize is not None:
            initialize()
        with quiet.undisturbed():
            self._plugins()
            self._modules()
            self._collections(collections)
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if initialize is not None:
            _forget_finder()

    def _plugins(self) -> None:
        plugins = PluginsAhead()
        if not plugins.supported():
            self.notes.append("plugins are not loaded ahead: this ansible-core loads them otherwise")
            return
        for name, error in plugins.load(_PLUGINS):
            self._note(name, error)
        try:
            _template()
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._note("a template", error)
        plugins.put_away()

    def _modules(self) -> None:
        for name in _MODULES:
            try:
                importlib.import_module(name)
            except Exception as error:  # pylint: disable=broad-exception-caught
                self._note(name, error)

    def _collections(self, names: Iterable[str]) -> None:
        self._kept = CollectionsAhead()
        for name in names:
            for part, error in self._kept.load(name):
                self._note(part, error)
        self._kept.put_away()
        self.collections = self._kept.places

    def modules(self) -> list[types.ModuleType]:
        """Returns all that has been imported, put away or not."""
        return [*sys.modules.values(), *self._kept.modules()]

    def _note(self, what: str, error: BaseException) -> None:
        self.notes.append(f"{what} is not there ahead: {type(error).__name__}: {error}")


def _template() -> None:
    """Evaluates a template, for all that is made when that is done the first time."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.template import Templar

    Templar(loader=DataLoader(), variables={"one": 1}).template("{{ one | string }}")


def _forget_finder() -> None:
    """Takes out what finds collections: each run makes it anew, with what its command line says."""
    from ansible.utils.collection_loader import _collection_finder

    _collection_finder._AnsibleCollectionFinder._remove()
