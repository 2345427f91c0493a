"""ansible-core 2.14 to 2.18: modules and arguments travel as text, errors as tracebacks."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Mapping, Sequence

from chartbook_warm.adapters.base import ACTION, Adapter, Parameters
from chartbook_warm.payload import Payload

EXECUTE = ("module_name", "module_args", "tmp", "task_vars", "persist_files", "delete_remote_tmp", "wrap_async")
COMMAND = ("cmd", "sudoable", "in_data", "executable", "encoding_errors", "chdir")
SHEBANG = ("interpreter", "task_vars", "templar", "args", "remote_is_local")

COMMON_SIGNATURES: dict[str, Sequence[Parameters]] = {
    ACTION + "_is_pipelining_enabled": [("module_style", "wrap_async")],
    ACTION + "_configure_module": [("module_name", "module_args", "task_vars")],
    ACTION + "_make_tmp_path": [("remote_user",)],
    ACTION + "_remove_tmp_path": [("tmp_path", "force")],
    ACTION + "_should_remove_tmp_path": [("tmp_path",)],
    ACTION + "_compute_environment_string": [("raw_environment_out",)],
    ACTION + "_get_remote_user": [()],
    "ansible.executor.module_common:_extract_interpreter": [("b_module_data",)],
    "ansible.executor.module_common:_is_binary": [("b_module_data",)],
    "ansible.executor.module_common:_get_ansible_module_fqn": [("module_path",)],
    "ansible.plugins.connection.local:Connection.exec_command": [("cmd", "in_data", "sudoable")],
    "ansible.plugins.connection.local:Connection._connect": [()],
}


class Classic(Adapter):
    """The family as it was until 2.18."""

    signatures = {
        **COMMON_SIGNATURES,
        ACTION + "_execute_module": [EXECUTE, (*EXECUTE, "ignore_unknown_opts")],
        ACTION + "_low_level_execute_command": [COMMAND],
        "ansible.executor.module_common:_get_shebang": [SHEBANG],
    }
    absent = ("ansible.executor.module_common:_BuiltModule",)
    unnamed_module = "ansible.modules.%s"
    shell_stays = True  # it has another command to run after the module

    def debugging(self, task_vars: Mapping[str, Any]) -> bool:
        return bool(os.environ.get("_ANSIBLE_COVERAGE_CONFIG"))

    def special_encoding(self) -> bool:
        return False

    def encode(self, arguments: Mapping[str, Any]) -> str:
        from ansible.module_utils.common.json import AnsibleJSONEncoder

        return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, cls=AnsibleJSONEncoder, vault_to_text=True)

    def built(self, payload: Payload) -> Any:
        return "new", payload.shebang, payload, payload.source.path

    def prepare(self, arguments: bytes) -> None:
        from ansible.module_utils import basic
        from ansible.module_utils.common import warnings

        basic._ANSIBLE_ARGS = arguments
        warnings._global_warnings.clear()
        warnings._global_deprecations.clear()

    def report(self, error: Exception) -> bool:
        return False

    def no_exit(self) -> None:
        print(json.dumps({"msg": "New-style module did not handle its own exit", "failed": True}))
        sys.exit(1)
