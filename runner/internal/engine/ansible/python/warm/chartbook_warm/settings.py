"""Sets right in a run what Ansible works out once per process, when it is imported."""

from __future__ import annotations

import atexit
import secrets
import shutil
from collections.abc import Iterator
from typing import Any


def renew() -> None:
    """Works out again what is to be this process' own."""
    from ansible import constants
    from ansible.utils import vars as names

    # Under the directory for Ansible's temporary files each process has one, and keeps prepared modules there by name.
    constants.DEFAULT_LOCAL_TMP = constants.config.get_config_value("DEFAULT_LOCAL_TMP", variables=vars(constants))
    if hasattr(names, "random_int"):  # which makes the ids of tasks differ from those of other processes
        names.random_int = secrets.token_hex(4)


def keep_from_users() -> None:
    """Keeps users' callbacks and log from hearing of a run that is not theirs but tests this process."""
    from ansible import constants
    from ansible.plugins.loader import callback_loader
    from ansible.utils import display

    everything = callback_loader.all

    def ours(*args: Any, **kwargs: Any) -> Iterator[Any]:
        return (found for found in everything(*args, **kwargs) if getattr(found, "CALLBACK_NAME", "") == "chartbook_events")

    callback_loader.all = ours
    constants.CALLBACKS_ENABLED = []
    constants.DEFAULT_STDOUT_CALLBACK = "minimal"
    display.logger = None


def remove_local_temp() -> None:
    """Removes the zygote's own directory for temporary files, which no run uses."""
    from ansible import constants
    from ansible.config import manager

    atexit.unregister(manager.cleanup_tmp_file)
    shutil.rmtree(constants.DEFAULT_LOCAL_TMP, ignore_errors=True)
