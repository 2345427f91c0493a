"""Tests of the rules: one for each reason why a module takes Ansible's own path."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import types
import unittest
from typing import Any
from unittest import mock

from . import hooksupport

MODULE = "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\n"


class EligibilityTest(hooksupport.NeedsAnsible):
    """Asks for the payload of an action as Ansible makes it."""

    def setUp(self) -> None:
        import ansible.executor.module_common  # noqa: F401
        import ansible.plugins.action  # noqa: F401
        import ansible.plugins.connection.local  # noqa: F401
        from ansible.plugins import loader
        from ansible.release import __version__

        from chartbook_warm import eligibility, place, versions

        if hasattr(loader, "init_plugin_loader"):
            with mock.patch("warnings.warn"):
                loader.init_plugin_loader()
        chosen = versions.choose(__version__)
        assert not isinstance(chosen, versions.Refusal), chosen
        self.adapter = chosen
        self.eligibility = eligibility.Eligibility(chosen, place.Place(), {"ENABLE_TURBO_MODE", "KUBECONFIG"})
        self.refused = eligibility.Ineligible
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.library = os.path.realpath(self._folder.name)
        loader.module_loader.add_directory(self.library)
        self.variables: dict[str, Any] = {"ansible_python_interpreter": sys.executable}

    def module(self, text: str, name: str = "sample.py") -> None:
        """Writes a file that modules are looked for in."""
        with open(os.path.join(self.library, name), "w", encoding="utf-8") as file:
            file.write(text)
        from ansible.plugins import loader

        loader.module_loader._plugin_path_cache.clear()
        loader.module_loader._searched_paths.clear()

    def action(self, name: str = "ping", connection: str = "local", **task: Any) -> Any:
        """Returns an action with a task and a connection."""
        from ansible.parsing.dataloader import DataLoader
        from ansible.playbook.play_context import PlayContext
        from ansible.playbook.task import Task
        from ansible.plugins import loader
        from ansible.template import Templar

        data = DataLoader()
        context = PlayContext()
        templar = Templar(loader=data, variables=self.variables)
        made = Task.load({"action": name, **_trusted(task)}, loader=data)
        arguments = [] if _takes_no_input(loader) else [os.devnull]
        link = loader.connection_loader.get(connection, context, *arguments, task_uuid="", ansible_playbook_pid="")
        link.set_options(var_options={})
        link._shell.set_options(var_options={})
        shared = types.SimpleNamespace(module_loader=loader.module_loader)
        return loader.action_loader.get("normal", task=made, connection=link, play_context=context, loader=data,
                                        templar=templar, shared_loader_obj=shared)

    def reason(self, action: Any, name: str | None = None, wrap_async: bool = False) -> str:
        """Returns why an action is refused, "" if it is not."""
        try:
            self.eligibility.payload(action, name, self.variables, wrap_async)
        except self.refused as refusal:
            return refusal.reason
        return ""

    def test_what_is_accepted(self) -> None:
        action = self.action(environment={"NAME": "value", "KUBECONFIG": "/x", "K8S_AUTH_HOST": "h", "PATH": "/bin"})
        payload = self.eligibility.payload(action, None, self.variables, False)
        self.assertEqual((payload.module_name, payload.fqn, payload.package),
                         ("ping", "ansible.modules.ping", "ansible.modules"))
        self.assertEqual(payload.shebang, "#!" + sys.executable)
        self.assertEqual(payload.environment["NAME"], "value")

    def test_a_module_beside_the_playbook(self) -> None:
        self.module(MODULE)
        payload = self.eligibility.payload(self.action("sample"), None, self.variables, False)
        self.assertEqual(payload.source.path, os.path.join(self.library, "sample.py"))
        self.assertEqual(payload.fqn, self.adapter.unnamed_module % "sample")

    def test_connection(self) -> None:
        self.assertEqual(self.reason(self.action(connection="ssh")), "connection")

        class Other(type(self.action()._connection)):  # type: ignore[misc]
            """As a plugin beside a playbook that builds upon the one of Ansible."""

        action = self.action()
        action._connection.__class__ = Other
        self.assertEqual(self.reason(action), "connection")

    def test_become_and_async(self) -> None:
        action = self.action()
        action._connection.become = mock.Mock()
        self.assertEqual(self.reason(action), "become")
        self.assertEqual(self.reason(self.action(**{"async": 10, "poll": 1})), "async")
        self.assertEqual(self.reason(self.action(), wrap_async=True), "async")

    def test_settings(self) -> None:
        from ansible import constants

        with mock.patch.object(constants, "DEFAULT_KEEP_REMOTE_FILES", True):
            self.assertEqual(self.reason(self.action()), "keep_remote_files")
        for executable in ("/usr/bin/env", "/nowhere/sh", "/bin/sh -e"):
            with mock.patch.object(constants, "DEFAULT_EXECUTABLE", executable):
                self.assertEqual(self.reason(self.action()), "executable", executable)
        action = self.action()
        action._play_context.executable = "/nowhere/bash"
        self.assertEqual(self.reason(action), "executable")
        with mock.patch.object(self.adapter, "special_encoding", return_value=True):
            self.assertEqual(self.reason(self.action()), "profile")

    def test_file_limit(self) -> None:
        self.variables["ansible_python_module_rlimit_nofile"] = 64
        self.assertEqual(self.reason(self.action()), "file_limit")

    def test_debugger(self) -> None:
        with mock.patch.object(self.adapter, "debugging", return_value=True):
            self.assertEqual(self.reason(self.action()), "debugger")
        wanted = {"_ANSIBLE_COVERAGE_CONFIG": "x", "_ANSIBLE_ANSIBALLZ_COVERAGE_CONFIG": '{"config": "", "output": ""}'}
        with mock.patch.dict(os.environ, wanted):
            self.assertEqual(self.reason(self.action()), "debugger")

    def test_interpreters(self) -> None:
        for interpreter, reason in ((sys.executable, ""), (os.path.realpath(sys.executable), ""),
                                    ("/nowhere/python3", "interpreter"), ("python3", "interpreter"),
                                    (sys.executable + " -E", "interpreter"), ("auto", "discovery"), ("", "discovery")):
            self.variables["ansible_python_interpreter"] = interpreter
            self.assertEqual(self.reason(self.action()), reason, interpreter)

    def test_an_interpreter_of_a_virtual_environment(self) -> None:
        os.makedirs(os.path.join(self.library, "venv", "bin"))
        interpreter = os.path.join(self.library, "venv", "bin", "python3")
        os.symlink(os.path.realpath(sys.executable), interpreter)
        self.variables["ansible_python_interpreter"] = interpreter
        self.assertEqual(self.reason(self.action()), "")
        with open(os.path.join(self.library, "venv", "pyvenv.cfg"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.reason(self.action()), "interpreter")

    def test_the_interpreter_that_was_discovered(self) -> None:
        self.variables["ansible_python_interpreter"] = "auto"
        self.variables["ansible_facts"] = {"discovered_interpreter_python": sys.executable}
        self.assertEqual(self.reason(self.action()), "")

    def test_kinds_of_modules(self) -> None:
        for text, name, reason in (
            (MODULE, "sample.py", ""),
            ("\0\1\2", "sample.py", "not_python"),
            (MODULE + "def :\n", "sample.py", "not_python"),
            ("#!/bin/sh\necho\n", "sample.py", "old_style"),
            ("#!/usr/bin/python\n# WANT_JSON\n", "sample.py", "old_style"),
            ("#!/usr/bin/python\n#<<INCLUDE_ANSIBLE_MODULE_COMMON>>\n", "sample.py", "old_style"),
            (MODULE.replace("\n", " -E\n", 1), "sample.py", "interpreter_arguments"),
            (MODULE.replace("/usr/bin/python", "/nowhere/python3"), "sample.py", "interpreter"),
            (MODULE + "from ansible.module_utils.common.respawn import respawn_module\n", "sample.py", "respawn"),
            (MODULE + "from ansible.module_utils.nowhere import x\n", "sample.py", "module_utils"),
            (MODULE + "from ansible.module_utils import basic, nowhere\n", "sample.py", "module_utils"),
            (MODULE + "import ansible_collections.no.where.plugins.module_utils.x\n", "sample.py", "module_utils"),
            (MODULE + "try:\n    import ansible.module_utils.nowhere\nexcept ImportError:\n    pass\n", "sample.py", ""),
            (MODULE, "other", "not_python"),
        ):
            with self.subTest(text):
                self.module(text, name)
                self.assertEqual(self.reason(self.action(name.partition(".")[0])), reason)

    def test_no_module(self) -> None:
        self.assertEqual(self.reason(self.action(), name="no_such_module"), "not_found")

    def test_shared_code_of_the_project(self) -> None:
        from ansible.plugins.loader import module_utils_loader

        folder = os.path.join(self.library, "module_utils")
        os.mkdir(folder)
        paths = [*module_utils_loader._get_paths(subdirs=False), folder]
        with mock.patch.object(module_utils_loader, "_get_paths", return_value=paths):
            self.assertEqual(self.reason(self.action()), "")
            with open(os.path.join(folder, "own.py"), "w", encoding="utf-8"):
                pass
            self.assertEqual(self.reason(self.action()), "module_utils")

    def test_environment(self) -> None:
        for name in ("PYTHONPATH", "LD_PRELOAD", "LC_ALL", "LANG", "LANGUAGE", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES",
                     "OPENSSL_CONF", "SSL_CERT_FILE", "ENABLE_TURBO_MODE", "UID", "not-a-name"):
            self.assertEqual(self.reason(self.action(environment={name: "x"})), "environment", name)

    def test_home_decides_where_packages_of_the_user_are(self) -> None:
        action = self.action(environment={"HOME": self.library})
        with mock.patch.dict(os.environ, {"HOME": "/nowhere"}), mock.patch("site.ENABLE_USER_SITE", True):
            self.assertEqual(self.reason(action), "")
            version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
            os.makedirs(os.path.join(self.library, ".local", "lib", version, "site-packages"))
            self.assertEqual(self.reason(action), "environment")

    def test_delegation_takes_the_settings_of_the_other_host(self) -> None:
        self.variables["ansible_delegated_vars"] = {"other": {"ansible_python_interpreter": "/nowhere/python"}}
        action = self.action()
        action._task.delegate_to = "other"
        self.assertEqual(self.reason(action), "interpreter")


def _trusted(task: dict[str, Any]) -> dict[str, Any]:
    with contextlib.suppress(ImportError):
        from ansible.template import trust_as_template

        return {key: trust_as_template(value) if isinstance(value, str) else value for key, value in task.items()}
    return task


def _takes_no_input(loader: Any) -> bool:
    import inspect

    from ansible.plugins.connection import ConnectionBase

    return "new_stdin" not in inspect.signature(ConnectionBase.__init__).parameters


if __name__ == "__main__":
    unittest.main()
