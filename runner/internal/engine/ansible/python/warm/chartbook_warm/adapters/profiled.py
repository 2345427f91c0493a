"""ansible-core 2.19 and later: modules come as objects, values in profiles of JSON, errors as results."""

from __future__ import annotations

import importlib
import json
from typing import Any, Mapping

from chartbook_warm.adapters.base import ACTION, Adapter
from chartbook_warm.adapters.classic import COMMAND, COMMON_SIGNATURES, EXECUTE, SHEBANG
from chartbook_warm.payload import Payload

_COMMON = "ansible.executor.module_common:"
_INTERNAL = "ansible.module_utils._internal"
_LOADER = _INTERNAL + "._ansiballz._loader"
_BUILDER = "ansible._internal._ansiballz._builder"
_PROFILES = _INTERNAL + "._json._profiles"
_PROFILE = "legacy"  # of all modules, unless special_encoding says that they may choose

_BUILT = ("b_module_data", "module_style", "shebang", "serialization_profile")


class Profiled(Adapter):
    """The family as of 2.19 and 2.20."""

    signatures = {
        **COMMON_SIGNATURES,
        ACTION + "_execute_module": [(*EXECUTE, "ignore_unknown_opts")],
        ACTION + "_low_level_execute_command": [COMMAND],
        _COMMON + "_get_shebang": [SHEBANG],
        _COMMON + "_BuiltModule": [_BUILT],
        _LOADER + ":_run_module": [("json_params", "profile", "module_fqn", "modlib_path", "init_globals")],
        _LOADER + ":_handle_exception": [("exception", "profile")],
        _BUILDER + ":ExtensionManager.create": [("task_vars",)],
        _INTERNAL + ":get_controller_serialize_map": [()],
        _INTERNAL + ":import_controller_module": [("module_name",)],
        _INTERNAL + "._traceback:_is_traceback_enabled": [("event",)],
        _INTERNAL + "._traceback:_is_module_traceback_enabled": [("event",)],
        _PROFILES + ":_string_encoding_check_enabled": [()],
        "ansible.module_utils.common.json:get_module_encoder": [("name", "direction")],
    }
    unnamed_module = "ansible.legacy.%s"
    shell_stays: bool | None = True

    def __init__(self) -> None:
        for name in (_LOADER, _BUILDER, _PROFILES):
            try:
                importlib.import_module(name)
            except ImportError:  # the check of signatures tells
                pass

    def debugging(self, task_vars: Mapping[str, Any]) -> bool:
        from ansible._internal._ansiballz import _builder

        return bool(_builder.ExtensionManager.create(task_vars=task_vars).extension_names)

    def special_encoding(self) -> bool:
        from ansible import constants

        return bool(constants.config.get_config_value("_MODULE_METADATA"))

    def encode(self, arguments: Mapping[str, Any]) -> str:
        from ansible.module_utils.common.json import Direction, get_module_encoder

        encoder = get_module_encoder(_PROFILE, Direction.CONTROLLER_TO_MODULE)
        return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=encoder)

    def built(self, payload: Payload) -> Any:
        from ansible.executor.module_common import _BuiltModule

        built = _BuiltModule(b_module_data=payload, module_style="new", shebang=payload.shebang,
                             serialization_profile=_PROFILE)
        return built, payload.source.path

    def prepare(self, arguments: bytes) -> None:
        """Also turns what the controller has made of the code that modules share back into what modules know."""
        from ansible.module_utils import _internal, basic
        from ansible.module_utils._internal import _traceback
        from ansible.module_utils._internal._json import _profiles
        from ansible.module_utils.common import warnings

        _internal.is_controller = False
        _internal.get_controller_serialize_map = dict
        _internal.import_controller_module = _import_nothing
        _profiles._string_encoding_check_enabled.cache_clear()
        _traceback._is_traceback_enabled = _traceback._is_module_traceback_enabled
        _traceback._module_tracebacks_enabled_events = None
        warnings._global_warnings.clear()
        warnings._global_deprecations.clear()
        basic._PARSED_MODULE_ARGS = None
        basic._ANSIBLE_ARGS = arguments
        basic._ANSIBLE_PROFILE = _PROFILE

    def report(self, error: Exception) -> bool:
        from ansible.module_utils._internal._ansiballz import _loader

        _loader._handle_exception(error, _PROFILE)  # exits
        return True

    def no_exit(self) -> None:
        raise RuntimeError("New-style module did not handle its own exit.")


class Direct(Profiled):
    """The family since 2.21, where shells have nothing to do after the module."""

    signatures = {
        **Profiled.signatures,
        ACTION + "_low_level_execute_command": [(*COMMAND, "process_result")],
        _COMMON + "_get_shebang": [(*SHEBANG, "default_interpreters")],
        _COMMON + "_BuiltModule": [
            (*_BUILT, "has_async", "has_become", "has_environment", "command_lookup", "process_result")
        ],
    }
    shell_stays = None


def _import_nothing(_name: str, /) -> None:
    """Has code find no controller."""
