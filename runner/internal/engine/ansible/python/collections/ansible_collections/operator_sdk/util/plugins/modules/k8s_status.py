"""Writes the status of an object."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.api import AUTH_ARGUMENTS, Api, ApiFailure, Resource, connect, find
from ansible_collections.operator_sdk.util.plugins.module_utils.status import checked, merge_patch, merged

DOCUMENTATION = """
module: k8s_status
short_description: Writes the status of an object
description:
  - Merges keys and conditions into the status of an object, or replaces the status.
  - Writes nothing when the status is as it should be.
  - The kind needs a status subresource.
  - With C(manageStatus) on, which is the default, the operator writes conditions of its own and leaves all other keys and conditions alone.
extends_documentation_fragment: operator_sdk.util.auth
options:
  kind:
    description: Kind of the object; its plural, singular and short names do too.
    type: str
    required: true
  name:
    description: Name of the object.
    type: str
    required: true
  namespace:
    description: Namespace of the object. Leave it out for kinds that are cluster-scoped.
    type: str
  api_version:
    description: Group and version of the kind.
    type: str
    default: v1
    aliases: [api, version]
  status:
    description:
      - Keys of the status. They are merged with what is there; null takes a key out.
      - Conditions in it are merged like C(conditions), but not checked.
    type: dict
  conditions:
    description:
      - Conditions of the status. One takes the place of the condition of its type, the others stay.
      - One that differs from what is there in nothing but C(lastTransitionTime) changes nothing.
      - Each has C(type) and C(status) (C("True"), C("False") or C("Unknown")), and may have C(reason) (one CamelCase word of letters),
        C(message), C(lastHeartbeatTime) and C(lastTransitionTime) (times of RFC 3339 with a zone; a blank may take the place of the T).
    type: list
    elements: dict
    default: []
  replace:
    description: Whether all of the status is replaced by what is given.
    type: bool
    default: false
    aliases: [force]
  replace_lists:
    description:
      - Whether a list has to be as it is given. Without it a list is left alone when it has all that is given.
      - Conditions are always merged by type.
    type: bool
    default: false
"""

EXAMPLES = """
- name: Say where the database can be reached
  operator_sdk.util.k8s_status:
    api_version: example.com/v1
    kind: Database
    name: "{{ ansible_operator_meta.name }}"
    namespace: "{{ ansible_operator_meta.namespace }}"
    status:
      endpoint: "db.{{ ansible_operator_meta.namespace }}.svc:5432"

- name: Add a condition
  operator_sdk.util.k8s_status:
    api_version: example.com/v1
    kind: Database
    name: "{{ ansible_operator_meta.name }}"
    namespace: "{{ ansible_operator_meta.namespace }}"
    conditions:
      - type: BackedUp
        status: "True"
        reason: NightlyJob
        message: The backup of last night is complete
        lastTransitionTime: "{{ lookup('pipe', 'date --rfc-3339 seconds') }}"
"""

RETURN = """
result:
  description: The object as it is after the module; in check mode as it would be.
  returned: success
  type: dict
"""

CONFLICTS = 5  # writes of others in between after which the module gives up

ARGUMENTS = {
    "kind": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str"},
    "api_version": {"type": "str", "default": "v1", "aliases": ["api", "version"]},
    "status": {"type": "dict"},
    "conditions": {"type": "list", "elements": "dict", "default": []},
    "replace": {"type": "bool", "default": False, "aliases": ["force"]},
    "replace_lists": {"type": "bool", "default": False},
}


def wanted_status(module: Any) -> dict[str, Any] | None:
    """Returns what the status is to be or to get; None when nothing is asked for."""
    params = module.params
    try:
        conditions = checked(params["conditions"] or [])
    except ValueError as problem:
        module.fail_json(msg="The specified conditions failed to validate", error=str(problem))
    status = params["status"]
    if conditions and (status or {}).get("conditions"):
        module.fail_json(msg="You cannot specify conditions in both the 'status' and 'conditions' parameters")
    if conditions:
        status = {**(status or {}), "conditions": conditions}
    return status


class StatusWriter:
    """Writes the status of one object."""

    def __init__(self, module: Any, api: Api, resource: Resource) -> None:
        self.module = module
        self.api = api
        self.resource = resource

    def run(self, wanted: dict[str, Any] | None) -> dict[str, Any]:
        """Returns what the module returns."""
        for attempt in range(1, CONFLICTS + 1):
            before = self.read()
            status = before.get("status") or {}
            if wanted is None:
                break
            after = merge_patch(status, wanted, self.module.params["replace_lists"])
            if self.module.params["replace"]:
                after = None if status == wanted else wanted
            if after is None:
                break
            try:
                result = self.write(before, after)
            except ApiFailure as failure:
                if failure.status == 409 and attempt < CONFLICTS:
                    continue
                self.module.fail_json(msg=f"Failed to write the status: {failure}", error=failure.described())
            # The API server drops keys that the kind does not have, and may so be left with nothing to change.
            return {"result": result, "changed": (result.get("status") or {}) != status}
        return {"result": before, "changed": False}

    def read(self) -> dict[str, Any]:
        """Returns the object."""
        params = self.module.params
        try:
            path = self.resource.path(params["namespace"], params["name"])
            return self.api.request("GET", path)
        except ApiFailure as failure:
            self.module.fail_json(msg="Failed to retrieve requested object", error=failure.described())
            raise

    def write(self, before: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        """Returns the object with its new status. The write fails when somebody else has written in between."""
        params = self.module.params
        replace = params["replace"]
        if self.module.check_mode:
            return {**before, "status": status if replace else merged(before.get("status"), status)}
        path = self.resource.path(params["namespace"], params["name"], "status")
        if replace:
            return self.api.request("PUT", path, {**before, "status": status})
        patch = {
            "apiVersion": before["apiVersion"], "kind": before["kind"],
            "metadata": {"name": params["name"], "resourceVersion": before["metadata"]["resourceVersion"]},
            "status": status,
        }
        return self.api.request("PATCH", path, patch, "application/merge-patch+json")


def main() -> None:
    """Runs the module."""
    module = AnsibleModule(argument_spec={**AUTH_ARGUMENTS, **ARGUMENTS}, supports_check_mode=True)
    wanted = wanted_status(module)
    api = connect(module)
    resource = find(module, api, module.params["api_version"], module.params["kind"])
    if "status" not in resource.subresources:
        module.fail_json(msg=f"Resource {resource.api_version}.{resource.kind} does not support the status subresource")
    module.exit_json(**StatusWriter(module, api, resource).run(wanted))


if __name__ == "__main__":
    main()
