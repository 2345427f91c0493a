"""What the hooks ask of an adapter, and what the families have in common."""

from __future__ import annotations

import abc
import inspect
import sys
from typing import Any, Iterator, Mapping, Sequence

from chartbook_warm.payload import Payload

Parameters = Sequence[str]

ACTION = "ansible.plugins.action:ActionBase."


class Adapter(abc.ABC):
    """Access to the parts of one family of ansible-core versions that the hooks depend on.

    Attributes:
        signatures: Parameter names of each function that is called or replaced, by "module:name" or
            "module:class.name". Several sequences are alternatives.
        uses: Names that a function has to use, by the same.
        absent: What only other families have.
        unnamed_module: Dotted name, with a place for the module's, of modules that lie outside of packages.
        shell_stays: Whether a shell waits for the module's interpreter, rather than becoming it; None if that is for
            the shell to choose.
    """

    signatures: Mapping[str, Sequence[Parameters]]
    uses: Mapping[str, Sequence[str]] = {
        ACTION + "_execute_module": ("_configure_module", "_is_pipelining_enabled", "_low_level_execute_command"),
        ACTION + "_low_level_execute_command": ("exec_command", "cwd"),
    }
    absent: Sequence[str] = ()
    unnamed_module: str
    shell_stays: bool | None

    def changes(self) -> Iterator[str]:
        """Yields a text for each function that is not as expected."""
        for name, expected in self.signatures.items():
            found = parameters(name)
            if found is None:
                yield f"{name} is missing"
            elif found not in [tuple(names) for names in expected]:
                yield f"{name} takes ({', '.join(found)})"
        for name, needed in self.uses.items():
            used = getattr(getattr(find(name), "__code__", None), "co_names", ())
            yield from (f"{name} does not use {other}" for other in needed if other not in used)
        yield from (f"{name} is there" for name in self.absent if find(name) is not None)

    @abc.abstractmethod
    def debugging(self, task_vars: Mapping[str, Any]) -> bool:
        """Tells whether a debugger or a coverage measurement is to be built into modules."""

    @abc.abstractmethod
    def special_encoding(self) -> bool:
        """Tells whether modules may choose how their arguments are encoded."""

    @abc.abstractmethod
    def encode(self, arguments: Mapping[str, Any]) -> str:
        """Returns module arguments as JSON.

        Raises:
            TypeError: A value has no JSON form.
        """

    @abc.abstractmethod
    def built(self, payload: Payload) -> Any:
        """Returns what _configure_module returns for a payload."""

    @abc.abstractmethod
    def prepare(self, arguments: bytes) -> None:
        """Gives a module child its arguments, and forgets what modules have said before it."""

    @abc.abstractmethod
    def report(self, error: Exception) -> bool:
        """Prints an exception that a module did not handle; False leaves it to Python's traceback."""

    @abc.abstractmethod
    def no_exit(self) -> None:
        """Ends a module that came to its end without a result, by SystemExit or another exception."""


def find(name: str) -> Any:
    """Returns the object of "module:name" or "module:class.name" if its module is imported, else None."""
    module, _, attributes = name.partition(":")
    found: Any = sys.modules.get(module)
    for attribute in attributes.split("."):
        found = getattr(found, attribute, None)
    return found


def parameters(name: str) -> tuple[str, ...] | None:
    """Returns the names of a function's parameters without self, of a dataclass those of its constructor."""
    found = find(name)
    if not callable(found):
        return None
    try:
        names = tuple(inspect.signature(found).parameters)
    except (TypeError, ValueError):
        return None
    return names[1:] if names[:1] == ("self",) else names
