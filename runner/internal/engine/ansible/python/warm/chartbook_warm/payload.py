"""What is known of one module execution in a fork, from the decision to the answer."""

from __future__ import annotations

import dataclasses

from chartbook_warm.source import Source


@dataclasses.dataclass(eq=False)  # told apart by identity: Ansible hands the object back as the module's input
class Payload:
    """One module to execute in a fork.

    Attributes:
        module_name: As the action plugin calls it.
        source: File, text and code of the module.
        fqn: Dotted name that the module gets to see as its own.
        shebang: Interpreter line as Ansible has worked it out.
        shells: The two that would run the module, one inside the other.
        environment: What the task sets, on top of the environment of the worker.
        arguments: JSON document with the module's arguments, known once Ansible has completed them.
        started: Whether a process was started for it.
    """

    module_name: str
    source: Source
    fqn: str
    shebang: str
    shells: tuple[str, str]
    environment: dict[str, str]
    arguments: bytes = b""
    started: bool = False

    @property
    def package(self) -> str:
        """Name of the package that relative imports of the module start from."""
        return self.fqn.rpartition(".")[0]
