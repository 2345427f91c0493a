"""Sets right in a run what Ansible works out once per process, when it is imported."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
from typing import Any


def renew() -> None:
    """Works out again what is to be this process' own."""
    from ansible import constants
    from ansible.utils import vars as names

    # Under the directory for Ansible's temporary files each process has one, and keeps prepared modules there by name.
    constants.DEFAULT_LOCAL_TMP = constants.config.get_config_value("DEFAULT_LOCAL_TMP", variables=vars(constants))
    if hasattr(names, "random_int"):  # which makes the ids of tasks differ from those of other processes
        names.random_int = secrets.token_hex(4)


def remove_local_temp() -> None:
    """Removes the zygote's own directory for temporary files, which no run uses."""
    from ansible import constants
    from ansible.config import manager

    atexit.unregister(manager.cleanup_tmp_file)
    shutil.rmtree(constants.DEFAULT_LOCAL_TMP, ignore_errors=True)


class Relative:
    """The settings that are paths below the working directory: relative ones, and ~ of a user who has no home."""

    def __init__(self) -> None:
        """Finds them. The working directory has to be one that no setting names otherwise."""
        from ansible import constants
        from ansible.plugins import loader

        self._directory = os.getcwd()
        self._settings = {name: value for name, value in vars(constants).items() if self._concerns(value)}
        self._loaders = [found for _, found in loader.get_all_plugin_loaders() if self._concerns(found.config)]

    def _concerns(self, value: Any) -> bool:
        if isinstance(value, list):
            return any(self._concerns(entry) for entry in value)
        return isinstance(value, str) and value.startswith(self._directory + os.sep)

    def move(self) -> None:
        """Makes them paths below the present working directory."""
        from ansible import constants

        for name, value in self._settings.items():
            setattr(constants, name, self._moved(value))
        for loader in self._loaders:
            loader.config = self._moved(loader.config)
            loader._clear_caches()
        if "COLLECTIONS_PATHS" in self._settings:
            self._move_finder()

    def _moved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._moved(entry) for entry in value]
        return os.getcwd() + value[len(self._directory):] if self._concerns(value) else value

    @staticmethod
    def _move_finder() -> None:
        """Has collections be looked for where the settings say, in versions that have read them when imported."""
        from ansible import constants
        from ansible.utils.collection_loader import AnsibleCollectionConfig

        finder = AnsibleCollectionConfig.collection_finder
        if finder is not None:
            moved = type(finder)(constants.COLLECTIONS_PATHS, constants.COLLECTIONS_SCAN_SYS_PATH)
            finder._n_configured_paths = moved._n_configured_paths
            finder._n_cached_collection_paths = finder._n_cached_collection_qualified_paths = None
