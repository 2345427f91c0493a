"""Which variables of the environment what is imported has looked at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
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

# _EARLY are names that C libraries and Python itself look at, where nobody sees it.
_EARLY = re.compile(r"(?:LANG|LANGUAGE|TZ|HOME|USER|LOGNAME)$|LC_|PYTHON|LD_|MALLOC_|GLIBC_|OPENSSL_|SSL_")


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

        os.environ.__class__ = os.environb.__class__ = Watched
        return self

    def __exit__(self, *_: object) -> None:
        os.environ.__class__ = os.environb.__class__ = os._Environ

    def consulted(self) -> list[str]:
        """Returns the names whose values a run has to share, in order."""
        return sorted(name for name in self._names if not _is_per_run(name))


class Shared:
    """What all runs of a zygote have in common of their environments."""

    def __init__(self, consulted: Iterable[str]) -> None:
        """Takes the values of the names from this process."""
        self._consulted = frozenset(consulted)
        self._values = self._part(os.environ)

    def differences(self, values: Mapping[str, str]) -> list[str]:
        """Returns the names by which an environment differs from what was there when all was imported."""
        part = self._part(values)
        return sorted(name for name in {*part, *self._values} if part.get(name) != self._values.get(name))

    def _part(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in values.items() if self._counts(name)}

    def _counts(self, name: str) -> bool:
        return not _is_per_run(name) and (name in self._consulted or ALL in self._consulted or bool(_EARLY.match(name)))


def _is_per_run(name: str) -> bool:
    return name in PER_RUN or name.startswith(PER_RUN_PREFIX)


def replace(values: Mapping[str, str]) -> None:
    """Makes values the whole environment."""
    for name in [name for name in os.environ if name not in values]:
        del os.environ[name]
    os.environ.update(values)
