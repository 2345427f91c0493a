"""Tests of the choice of an adapter: what is not known, or not as expected, gets none."""

from __future__ import annotations

import sys
import types
import unittest
from typing import Any
from unittest import mock

from . import hooksupport  # noqa: F401  # makes the package known

from chartbook_warm import versions
from chartbook_warm.adapters import base
from chartbook_warm.adapters.classic import Classic
from chartbook_warm.adapters.profiled import Direct, Profiled


def fake_ansible(family: type[base.Adapter], **changed: tuple[str, ...] | None) -> dict[str, Any]:
    """Returns modules with functions of a family's signatures; those whose last names are given are others, or none."""
    modules: dict[str, Any] = {}
    for name, alternatives in family.signatures.items():
        module, _, attributes = name.partition(":")
        holder: Any = modules.setdefault(module, types.ModuleType(module))
        *classes, last = attributes.split(".")
        for entry in classes:
            if not hasattr(holder, entry):
                setattr(holder, entry, type(entry, (), {}))
            holder = getattr(holder, entry)
        parameters = changed.get(last, tuple(alternatives[0]))
        if parameters is not None:
            first = ["self"] if classes else []
            scope: dict[str, Any] = {}
            used = " or ".join(f"self.{use}" for use in family.uses.get(name, ())) or "None"
            exec(f"def function({', '.join([*first, *parameters])}): return {used}", scope)
            setattr(holder, last, scope["function"])
    return modules


class ChooseTest(unittest.TestCase):
    """Versions by name and by signatures."""

    def choose(self, version: str, family: type[base.Adapter],
               **changed: tuple[str, ...] | None) -> base.Adapter | versions.Refusal:
        """Chooses with stand-ins for the modules of ansible-core."""
        with mock.patch.dict(sys.modules, fake_ansible(family, **changed)):
            return versions.choose(version)

    def test_known_versions(self) -> None:
        for version, family in (("2.14.18", Classic), ("2.15.0", Classic), ("2.16.12", Classic), ("2.17.5", Classic),
                                ("2.18.0rc1", Classic), ("2.19.3", Profiled), ("2.20.1", Profiled), ("2.21.0", Direct),
                                ("2.19.0.dev0", Classic)):
            with self.subTest(version, family=family):
                self.assertIs(type(self.choose(version, family)), family)

    def test_unknown_versions(self) -> None:
        for version in ("2.13.9", "2.22.0", "3.0.0", "2.1", "", "devel", "2.140.0"):
            refusal = self.choose(version, Classic)
            self.assertIsInstance(refusal, versions.Refusal)
            assert isinstance(refusal, versions.Refusal)
            self.assertEqual(refusal.reason, "version", version)

    def test_each_changed_or_missing_function_counts(self) -> None:
        for version, family in (("2.14.18", Classic), ("2.20.0", Profiled), ("2.21.0", Direct)):
            for name in family.signatures:
                last = name.rpartition(":")[2].rpartition(".")[2]
                for change in (("surprise",), None):
                    with self.subTest(version, name=name, change=change):
                        refusal = self.choose(version, family, **{last: change})
                        assert isinstance(refusal, versions.Refusal), refusal
                        self.assertEqual(refusal.reason, "signature")
                        self.assertIn(name, refusal.message)

    def test_a_function_that_goes_another_way_counts(self) -> None:
        with mock.patch.object(Classic, "uses", {}):
            modules = fake_ansible(Classic)
        with mock.patch.dict(sys.modules, modules):
            refusal = versions.choose("2.14.18")
        assert isinstance(refusal, versions.Refusal), refusal
        self.assertIn("_execute_module does not use _configure_module", refusal.message)

    def test_a_family_in_the_clothes_of_another(self) -> None:
        for version, family in (("2.18.1", Profiled), ("2.20.0", Direct), ("2.21.0", Profiled)):
            refusal = self.choose(version, family)
            assert isinstance(refusal, versions.Refusal), refusal
            self.assertEqual(refusal.reason, "signature", refusal)


if __name__ == "__main__":
    unittest.main()
