"""Decides which modules may run in a fork: those of which a fork gives what a started process would."""

from __future__ import annotations

import os
import re
import site
import sys
from typing import Any, Iterable, Mapping

from chartbook_warm import imports, source
from chartbook_warm.adapters.base import Adapter
from chartbook_warm.payload import Payload
from chartbook_warm.place import Place

# What C libraries and Python read when a process starts, and what shells do not let anyone set.
_EARLY_NAME = re.compile(
    r"PYTHON|LD_|LC_|LANG|MALLOC|GLIBC|OPENSSL|SSL_|SSLKEYLOGFILE$"
    r"|(?:UID|EUID|PPID|GROUPS|FUNCNAME|DIRSTACK|SHELLOPTS|BASH.*|IFS|ENV|_)$"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)


class Ineligible(Exception):
    """Carries one of counters.REASONS."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Eligibility:
    """The rules, for the interpreter of this process and for what has been imported into it."""

    def __init__(self, adapter: Adapter, place: Place, consulted: Iterable[str] = ()) -> None:
        """Takes the names of the environment whose values have been used while everything was imported."""
        self._adapter = adapter
        self._place = place
        self._consulted = frozenset(name for name in consulted if not _READ_AGAIN.match(name))
        self._python = _identity(sys.executable)

    def payload(self, action: Any, module_name: str | None, task_vars: Mapping[str, Any] | None,
                wrap_async: bool) -> Payload:
        """Returns what to execute for a call of _execute_module.

        Raises:
            Ineligible: Ansible's own path is the right one.
        """
        name = action._task.action if module_name is None else module_name
        variables = {} if task_vars is None else task_vars
        shells = self._check_place(action, wrap_async)
        path = self._find(action, name)
        module = _read(path)
        fqn = self._fqn(path, name)
        if next(imports.missing(module.text, fqn), None) or _own_module_utils():
            raise Ineligible("module_utils")
        environment = self._environment(action)
        used = _variables_of_target(action, variables)
        if self._adapter.debugging(used):
            raise Ineligible("debugger")
        _check_file_limit(action, used)
        shebang = self._shebang(action, module, used)
        return Payload(name, module, fqn, shebang, shells, environment)

    def _check_place(self, action: Any, wrap_async: bool) -> tuple[str, str]:
        """Returns the shells that would run the module."""
        if not self._place.is_local(action):
            raise Ineligible("connection")
        if action._connection.become:
            raise Ineligible("become")
        if wrap_async or action._task.async_val:
            raise Ineligible("async")
        from ansible import constants

        if constants.DEFAULT_KEEP_REMOTE_FILES:
            raise Ineligible("keep_remote_files")
        shells = self._place.usual_shells(action)
        if shells is None:
            raise Ineligible("executable")
        if self._adapter.special_encoding():
            raise Ineligible("profile")
        return shells

    @staticmethod
    def _find(action: Any, name: str) -> str:
        """Returns the module's path: modules beside playbooks and in roles have no name to import them by."""
        if tuple(action._connection.module_implementation_preferences) != ("",):
            raise Ineligible("connection")
        loader = action._shared_loader_obj.module_loader
        found = loader.find_plugin_with_context(name, "", collection_list=action._task.collections)
        path = found.plugin_resolved_path
        if not found.resolved or not path:
            raise Ineligible("not_found")
        return str(path)

    def _environment(self, action: Any) -> dict[str, str]:
        if not action._task.environment:
            return {}
        values: dict[Any, Any] = {}
        action._compute_environment_string(values)
        environment = {}
        for name, value in values.items():
            text = str(value)
            if not isinstance(name, str) or not _NAME.match(name) or "\0" in text or self._early(name, text):
                raise Ineligible("environment")
            environment[str(name)] = text
        return environment

    def _early(self, name: str, value: str) -> bool:
        """Tells whether a value is one that a process uses before any of a module's code runs."""
        if _EARLY_NAME.match(name) or name in self._consulted:
            return True
        homes = (os.environ.get("HOME", ""), value) if name == "HOME" and site.ENABLE_USER_SITE else ()
        return any(os.path.isdir(_user_packages(home)) for home in homes)

    def _shebang(self, action: Any, module: source.Source, variables: Mapping[str, Any]) -> str:
        from ansible.executor import module_common
        from ansible.executor.interpreter_discovery import InterpreterDiscoveryRequiredError

        interpreter, arguments = module_common._extract_interpreter(module.text)
        if arguments:
            raise Ineligible("interpreter_arguments")
        try:
            shebang, chosen = module_common._get_shebang(
                interpreter or "/usr/bin/python", variables, action._templar, arguments,
                remote_is_local=bool(getattr(action._connection, "_remote_is_local", False)))
        except InterpreterDiscoveryRequiredError as error:
            raise Ineligible("discovery") from error
        if _identity(str(chosen)) != self._python:
            raise Ineligible("interpreter")
        return str(shebang)

    def _fqn(self, path: str, name: str) -> str:
        from ansible.executor import module_common

        try:
            return str(module_common._get_ansible_module_fqn(path))
        except ValueError:
            return self._adapter.unnamed_module % name


# Consulted at the start, but looked at again by each module, or set right by module.run.
_READ_AGAIN = re.compile(r"(?:HOME|KUBECONFIG|K8S_AUTH_.*|LOGNAME|PATH|PWD|TMPDIR|TEMP|TMP|TZ|USER)$")


def _user_packages(home: str) -> str:
    return os.path.join(home, ".local", "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")


def _read(path: str) -> source.Source:
    from ansible.executor import module_common

    if not path.endswith(".py"):
        raise Ineligible("not_python")
    try:
        module = source.load(path)
    except OSError as error:
        raise Ineligible("not_found") from error
    if module_common._is_binary(module.text):
        raise Ineligible("not_python")
    if module_common.REPLACER in module.text or not module_common.NEW_STYLE_PYTHON_MODULE_RE.search(module.text):
        raise Ineligible("old_style")
    if module.code is None:
        raise Ineligible("not_python")
    if b"respawn" in module.text:
        raise Ineligible("respawn")
    return module


def _identity(interpreter: str) -> tuple[str, str] | None:
    """Returns what tells Pythons apart: the file, and the virtual environment that it is started from."""
    if not os.path.isabs(interpreter):
        return None
    folder = os.path.dirname(interpreter)
    for root in (folder, os.path.dirname(folder)):
        if os.path.exists(os.path.join(root, "pyvenv.cfg")):
            return os.path.realpath(interpreter), os.path.realpath(root)
    return os.path.realpath(interpreter), ""


def _variables_of_target(action: Any, task_vars: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the variables that settings of modules are taken from, those of the other host for delegated tasks."""
    if not action._task.delegate_to:
        return task_vars
    delegated = (task_vars.get("ansible_delegated_vars") or {}).get(action._task.delegate_to)
    if not isinstance(delegated, Mapping):
        raise Ineligible("no_payload")
    return delegated


def _check_file_limit(action: Any, variables: Mapping[str, Any]) -> None:
    from ansible import constants

    limit = constants.config.get_config_value("PYTHON_MODULE_RLIMIT_NOFILE", variables=variables)
    if not isinstance(limit, int):
        limit = action._templar.template(limit)
    if str(limit) != "0":
        raise Ineligible("file_limit")


def _own_module_utils() -> bool:
    """Tells whether there are module_utils that come before or beside those of Ansible."""
    from ansible.executor import module_common
    from ansible.plugins.loader import module_utils_loader

    ours = os.path.realpath(module_common._MODULE_UTILS_PATH)
    for folder in module_utils_loader._get_paths(subdirs=False):
        if os.path.isdir(folder) and os.path.realpath(folder) != ours and _has_python(folder):
            return True
    return False


def _has_python(folder: str) -> bool:
    return any(name.endswith(".py") for _, _, names in os.walk(folder, followlinks=True) for name in names)
