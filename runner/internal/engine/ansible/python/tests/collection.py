"""Loads the collection for its tests, with stand-ins for what is not installed."""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from typing import Any


OURS = str(pathlib.Path(__file__).parent.parent / "collections" / "ansible_collections")

try:
    import ansible_collections as package
except ImportError:
    package = sys.modules["ansible_collections"] = types.ModuleType("ansible_collections")
    package.__path__ = []


def load(name: str) -> Any:
    """Loads a module of the collection, like modules.k8s_status."""
    if OURS not in package.__path__:  # one of that name may be installed, and knows only what is below it
        package.__path__ = [OURS, *package.__path__]
    try:
        import ansible.module_utils.basic  # noqa: F401  pylint: disable=unused-import
    except ImportError:
        basic = types.ModuleType("ansible.module_utils.basic")
        basic.AnsibleModule = basic.env_fallback = None  # type: ignore[attr-defined]
        basic.missing_required_lib = lambda name: f"Failed to import the required Python library ({name})"  # type: ignore[attr-defined]
        sys.modules.setdefault("ansible", types.ModuleType("ansible"))
        sys.modules.update({"ansible.module_utils": types.ModuleType("ansible.module_utils"), "ansible.module_utils.basic": basic})
    return importlib.import_module("ansible_collections.operator_sdk.util.plugins." + name)


class Ended(Exception):
    """What a module says at its end."""

    def __init__(self, failed: bool, said: dict[str, Any]) -> None:
        super().__init__(said)
        self.failed = failed
        self.said = said


class Module:
    """Stands in for AnsibleModule."""

    def __init__(self, params: dict[str, Any], check_mode: bool = False) -> None:
        self.params = params
        self.check_mode = check_mode

    def exit_json(self, **said: Any) -> None:
        raise Ended(False, said)

    def fail_json(self, **said: Any) -> None:
        raise Ended(True, said)


class Server:
    """Stands in for the API: answers each request with the next of the answers that are prepared for it."""

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[Any, ...]] = []

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        self.asked.append((method, path, body, content_type))
        prepared = self.answers[method]
        answer = prepared.pop(0) if len(prepared) > 1 else prepared[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def methods(self) -> list[str]:
        return [asked[0] for asked in self.asked]
