"""Plugins of ansible-core that are imported ahead, and seen by a run only once it loads the very same file.

Ansible knows a loaded plugin by a name that does not say where it came from, like ansible.plugins.action.copy. One
that is loaded ahead would win over one of that name beside the playbook or in a role. So all that is loaded ahead is
put away again, and handed out when a run asks for that name from that file.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any


class PluginsAhead:
    """The plugins that have been loaded ahead, of all types."""

    def __init__(self) -> None:
        from ansible import constants
        from ansible.plugins import loader

        self._class = loader.PluginLoader
        self._loaders = [found for _, found in loader.get_all_plugin_loaders() if found.class_name]
        self._packages = tuple(found.package + "." for found in self._loaders)
        self._definitions = constants.config._plugins
        self._modules: dict[str, types.ModuleType] = {}
        self._options: dict[tuple[str, str], tuple[str, Any]] = {}  # by type and name: path and what is configurable
        self._before = set(sys.modules)
        self._cached_before = {id(found): set(found._module_cache) for found in self._loaders}
        self._defined_before = {kind: set(names) for kind, names in self._definitions.items()}

    def supported(self) -> bool:
        """Tells whether the loader of this ansible-core is one that this class can hand plugins to."""
        load = set(inspect.signature(self._class._load_module_source).parameters)
        define = list(inspect.signature(self._class._load_config_defs).parameters)
        return {"path"} < load <= {"self", "name", "python_module_name", "path"} and define == ["self", "name", "module", "path"]

    def load(self, kinds: Iterable[str]) -> Iterator[tuple[str, Exception]]:
        """Loads all plugins of some types that come with ansible-core. Yields those that cannot be loaded."""
        for kind in kinds:
            for loader in self._loaders:
                if loader.package == "ansible.plugins." + kind:
                    yield from self._load_all(loader)

    def _load_all(self, loader: Any) -> Iterator[tuple[str, Exception]]:
        if loader.type in ("filter", "test") and not _has_others(loader):
            list(loader.all())  # keeps what it has found, all of it from ansible-core
            return
        for context in loader._get_paths_with_context():
            if context.internal:
                for name in sorted(os.listdir(context.path)):
                    path = os.path.join(context.path, name)
                    if name.endswith(".py") and name != "__init__.py":
                        try:
                            self._load_one(loader, name[:-len(".py")], path)
                        except Exception as error:  # pylint: disable=broad-exception-caught
                            yield path, error

    def _load_one(self, loader: Any, name: str, path: str) -> None:
        unique = f"{abs(hash(path))}_{name}" if loader.type in ("filter", "test") else name
        if "python_module_name" in inspect.signature(self._class._load_module_source).parameters:
            module = loader._load_module_source(python_module_name=f"{loader.package}.{unique}", path=path)
        else:
            module = loader._load_module_source(unique, path)
        loader._load_config_defs(name, module, path)
        defined = self._definitions.get(loader.type, {})
        if name in defined and name not in self._defined_before.get(loader.type, ()):
            self._options[loader.type, name] = (path, defined[name])

    def put_away(self) -> None:
        """Makes the process look as if none had been loaded, and lets runs have them from now on."""
        for name in [name for name in sys.modules if name.startswith(self._packages) and name not in self._before]:
            self._modules[name] = sys.modules.pop(name)
        for kind, names in self._definitions.items():
            for name in set(names) - self._defined_before.get(kind, set()):
                del names[name]
        for loader in self._loaders:
            for path in set(loader._module_cache) - self._cached_before[id(loader)]:
                del loader._module_cache[path]
            if loader._paths is not None and _has_others(loader):
                loader._clear_caches()  # which know by now what is in directories that may change
        self._hand_out()

    def _hand_out(self) -> None:
        load, define = self._class._load_module_source, self._class._load_config_defs
        signature = inspect.signature(load)

        @functools.wraps(load)
        def load_or_take(loader: Any, *args: Any, **kwargs: Any) -> Any:
            given = signature.bind(loader, *args, **kwargs).arguments
            self._take(given.get("python_module_name") or f"{loader.package}.{given['name']}", given["path"])
            return load(loader, *args, **kwargs)

        @functools.wraps(define)
        def define_or_take(loader: Any, name: str, module: Any, path: str) -> Any:
            self._take_options(loader, name, path)
            return define(loader, name, module, path)

        self._class._load_module_source = load_or_take
        self._class._load_config_defs = define_or_take

    def _take(self, name: str, path: str) -> None:
        module = self._modules.get(name)
        if module is not None and name not in sys.modules and module.__file__ == path:
            sys.modules[name] = module

    def _take_options(self, loader: Any, name: str, path: str) -> None:
        kept = self._options.get((loader.type, name))
        if kept is not None and kept[0] == path:
            self._definitions.setdefault(loader.type, {}).setdefault(name, kept[1])


def _has_others(loader: Any) -> bool:
    """Tells whether there are places for plugins besides that of ansible-core."""
    return any(os.path.isdir(context.path) for context in loader._get_paths_with_context() if not context.internal)
