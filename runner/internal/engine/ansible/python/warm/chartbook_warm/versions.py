"""Which versions of ansible-core are known, and what they need."""

from __future__ import annotations

import dataclasses
import re

from chartbook_warm.adapters.base import Adapter
from chartbook_warm.adapters.classic import Classic
from chartbook_warm.adapters.profiled import Direct, Profiled

# By major and minor version. What is not here runs without hooks, whatever it looks like. Of several families, of a
# version that has changed while it was made, the first with the right signatures counts.
KNOWN: dict[tuple[int, int], tuple[type[Adapter], ...]] = {
    (2, 14): (Classic,),
    (2, 15): (Classic,),
    (2, 16): (Classic,),
    (2, 17): (Classic,),
    (2, 18): (Classic,),
    (2, 19): (Profiled, Classic),
    (2, 20): (Profiled,),
    (2, 21): (Direct,),
}


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why modules cannot be run in forks; playbooks can all the same.

    Attributes:
        reason: "version" or "signature".
        message: One line for the log.
    """

    reason: str
    message: str


def choose(version: str) -> Adapter | Refusal:
    """Returns the adapter for a version of ansible-core, which has to be imported, or why there is none."""
    match = re.match(r"(\d+)\.(\d+)(?:\.|$)", version)
    families = KNOWN.get((int(match[1]), int(match[2])), ()) if match else ()
    if not families:
        return Refusal("version", f"ansible-core {version} is not known")
    changes: list[str] = []
    for family in families:
        adapter = family()
        found = list(adapter.changes())
        if not found:
            return adapter
        changes = changes or found
    return Refusal("signature", f"ansible-core {version} is not as expected: {'; '.join(changes)}")
