"""Which variables of the environment what is imported has looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

# PER_RUN are names that may differ between the runs of one zygote: what looked at them ahead is set right in each run.
PER_RUN = frozenset({
    "CHARTBOOK_RUN", "CHARTBOOK_EVENTS_FD", "KUBECONFIG", "TMPDIR", "PWD",
    "ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TMP", "ANSIBLE_ASYNC_DIR",
})

# PER_RUN_PREFIX begins further such names.
PER_RUN_PREFIX = "K8S_AUTH_"

# ALL stands among the names for the whole environment.
ALL = "*"


class Recorder:
    """Notes the names that are looked up in os.environ, set or not, between its beginning and its end."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def __enter__(self) -> Recorder:
        names = self._names

        class Watched(os._Environ):  # type: ignore[type-arg]
            """The environment as it is, but that it notes what it is asked for."""

            def __getitem__(self, key: Any) -> Any:
                names.add(os.fsdecode(key))
                return super().__getitem__(key)

            def __iter__(self) -> Iterator[Any]:
                names.add(ALL)
                return super().__iter__()

            def __len__(self) -> int:
                names.add(ALL)
                return super().__len__()

        os.environ.__class__ = os.environb.__class__ = Watched  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        os.environ.__class__ = os.environb.__class__ = os._Environ  # type: ignore[assignment]

    def consulted(self) -> list[str]:
        """Returns the names whose values a run has to share, in order."""
        return sorted(name for name in self._names if not is_per_run(name))


def is_per_run(name: str) -> bool:
    """Tells whether a name may have another value in each run."""
    return name in PER_RUN or name.startswith(PER_RUN_PREFIX)


def replace(values: dict[str, str]) -> None:
    """Makes values the whole environment."""
    for name in [name for name in os.environ if name not in values]:
        del os.environ[name]
    os.environ.update(values)
