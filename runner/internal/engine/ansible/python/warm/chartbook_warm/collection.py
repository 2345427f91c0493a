"""Code of collections that is imported ahead, and seen by a run only if it finds the collection in the same place.

Imported code knows neither of a collection of that name beside the playbook, nor of another one in that namespace. So
all of it is put away again, and handed out when a run has loaded the collection from where it was loaded ahead.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
import types
from collections.abc import Iterator

_ROOT = "ansible_collections"
_BUILTIN = "ansible.builtin"

# _KINDS are the folders below plugins/ whose code is imported.
_KINDS = ("module_utils", "action", "lookup", "filter", "test")


class CollectionsAhead:
    """The collections whose code has been imported ahead."""

    def __init__(self) -> None:
        self._before = {name for name in sys.modules if name.partition(".")[0] == _ROOT}
        self._modules: dict[str, dict[str, types.ModuleType]] = {}  # by collection and full name
        self._loaded: list[str] = []
        self.places: dict[str, str] = {}  # where each collection is

    def load(self, name: str) -> Iterator[tuple[str, BaseException]]:
        """Imports code of a collection. Yields what cannot be imported."""
        try:
            package = importlib.import_module(f"{_ROOT}.{name}")
        except Exception as error:  # pylint: disable=broad-exception-caught
            yield name, error
            return
        self._loaded.append(name)
        for kind in _KINDS:
            folder = os.path.join(package.__path__[0], "plugins", kind)
            for found in pkgutil.walk_packages([folder], f"{_ROOT}.{name}.plugins.{kind}."):
                try:
                    importlib.import_module(found.name)
                except (Exception, SystemExit) as error:  # pylint: disable=broad-exception-caught
                    yield found.name, error

    def loaded(self) -> Iterator[str]:
        """Yields where the collections are that load has been called for."""
        for name in self._loaded:
            yield sys.modules[f"{_ROOT}.{name}"].__path__[0]

    def modules(self) -> list[types.ModuleType]:
        """Returns the imported code."""
        return [module for modules in self._modules.values() for module in modules.values()]

    def put_away(self) -> None:
        """Makes the process look as if none had been loaded, and lets runs have them from now on."""
        from ansible.utils.collection_loader import AnsibleCollectionConfig

        for full_name in [name for name in sys.modules if name.partition(".")[0] == _ROOT and name not in self._before]:
            module = sys.modules.pop(full_name)
            name = ".".join(full_name.split(".")[1:3])
            if name == _BUILTIN:  # which is made up, and so at no place
                continue
            if full_name.count(".") == 2 and module.__file__:
                self.places[name] = os.path.dirname(module.__file__)
            elif full_name.count(".") > 2:
                self._modules.setdefault(name, {})[full_name] = module
        AnsibleCollectionConfig.on_collection_load += self._hand_out

    def _hand_out(self, collection_name: str, collection_path: str) -> None:
        """Lets this process have a collection's code. Ansible calls it when it has loaded the collection."""
        if self.places.get(collection_name) != collection_path or not self._all_in_place(collection_name):
            return
        kept = self._modules.get(collection_name, {})
        for full_name, module in kept.items():
            sys.modules.setdefault(full_name, module)
        plugins = f"{_ROOT}.{collection_name}.plugins"
        if plugins in kept:  # as importing it makes it an attribute of the package above
            setattr(sys.modules[f"{_ROOT}.{collection_name}"], "plugins", kept[plugins])

    def _all_in_place(self, but: str) -> bool:
        """Tells whether all collections would be found where they were: code of one may have imported another."""
        for name, place in self.places.items():
            if name != but:
                try:
                    spec = importlib.util.find_spec(f"{_ROOT}.{name}")
                except ImportError:
                    return False
                if spec is None or not spec.submodule_search_locations or spec.submodule_search_locations[0] != place:
                    return False
        return True


def remember_metadata() -> None:
    """Lets routing metadata of collections be parsed once: that of ansible-core alone has thousands of lines."""
    from ansible.utils.collection_loader import _collection_finder

    parse = getattr(_collection_finder, "_meta_yml_to_dict", None)
    if parse is not None:
        _collection_finder._meta_yml_to_dict = functools.lru_cache(maxsize=None)(parse)
