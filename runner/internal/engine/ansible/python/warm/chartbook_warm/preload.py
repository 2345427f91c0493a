"""Imports ahead what runs need, as far as it is there."""

from __future__ import annotations

import importlib
import os
import ssl
import sys
import types
from collections import abc
from collections.abc import Iterable, Iterator
from typing import Tuple

from . import clients, module, waiting
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

Failures = Iterator[Tuple[str, BaseException]]  # what is not there, and why


class Preload:
    """What is imported ahead.

    Attributes:
        notes: What could not be.
    """

    def __init__(self) -> None:
        """Takes the process as a run is to find it, with the program's own imports done."""
        self.notes: list[str] = []
        self._plugins = PluginsAhead()
        self._collections = CollectionsAhead()
        self._initialize = getattr(sys.modules["ansible.plugins.loader"], "init_plugin_loader", None)

    def load(self, collections: Iterable[str]) -> None:
        """Imports plugins, modules and the code of the named collections."""
        remember_metadata()
        if self._initialize is not None:
            self._initialize()
        if self._plugins.supported():
            self._try("plugins", self._plugins.load(_PLUGINS))
        else:
            self.notes.append("plugins are not loaded ahead: this ansible-core loads them otherwise")
        self._try("a template", _template())
        self._try("modules", _modules())
        for name in collections:
            self._try(name, self._collections.load(name))
        for folder in self._folders():
            self._try(folder, _sources(folder))
        self._try("SSH", _probe_ssh())
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        clients.prepare()
        waiting.install()
        _classify()

    def put_away(self) -> None:
        """Hides it from runs that would not find it."""
        self._plugins.put_away()
        self._collections.put_away()
        if self._initialize is not None:
            _forget_finder()

    def places(self) -> dict[str, str]:
        """Returns where the collections are, by name."""
        return self._collections.places

    def modules(self) -> list[types.ModuleType]:
        """Returns all that has been imported, put away or not."""
        return [*sys.modules.values(), *self._collections.modules()]

    def _folders(self) -> Iterator[str]:
        """Yields the folders of modules."""
        from ansible import modules

        yield os.path.dirname(modules.__file__)
        for place in self._collections.loaded():
            yield os.path.join(place, "plugins", "modules")

    def _try(self, what: str, failures: Failures) -> None:
        """Notes what is not there. None of it keeps runs from taking place."""
        try:
            for part, error in failures:
                self._note(part, error)
        except Exception as error:  # pylint: disable=broad-exception-caught
            self._note(what, error)

    def _note(self, what: str, error: BaseException) -> None:
        self.notes.append(f"not ready ahead: {what}: {type(error).__name__}: {error}")


def _template() -> Failures:
    """Evaluates a template, for all that is made when that is done the first time."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.template import Templar

    Templar(loader=DataLoader(), variables={"one": 1}).template("{{ one | string }}")
    yield from ()


def _modules() -> Failures:
    for name in _MODULES:
        try:
            importlib.import_module(name)
        except ImportError as error:
            yield name, error


def _classify() -> None:
    """Asks what the types of data are, which Python answers from memory when it is asked again."""
    for kind in (abc.Mapping, abc.MutableMapping, abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet, abc.Iterable):
        for value in ({}, [], (), set(), frozenset(), "", b"", 0, 0.0, True, None):
            isinstance(value, kind)


def _sources(folder: str) -> Failures:
    """Compiles modules. A collection may have none."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(".py"):
            try:
                module.compile_cached(os.path.join(folder, name))
            except OSError as error:
                yield name, error


def _probe_ssh() -> Failures:
    """Has Ansible ask ssh once what it can do, as each run does at its begin."""
    from ansible.utils import ssh_functions

    ssh_functions.check_for_controlpersist("ssh")
    yield from ()


def _forget_finder() -> None:
    """Takes out what finds collections: each run makes it anew, with what its command line says."""
    from ansible.utils.collection_loader import _collection_finder

    _collection_finder._AnsibleCollectionFinder._remove()
