"""Records a Kubernetes Event."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.api import AUTH_ARGUMENTS, Api, ApiFailure, connect

DOCUMENTATION = """
module: k8s_event
short_description: Records a Kubernetes Event
description:
  - Records an Event of the core group, for C(kubectl describe) and C(kubectl events) to show.
  - An Event of the same name that has the same reason is counted up, any other is overwritten.
extends_documentation_fragment: operator_sdk.util.auth
options:
  state:
    description: Whether the Event is recorded or deleted.
    type: str
    choices: [present, absent]
    default: present
  name:
    description: Name of the Event.
    type: str
    required: true
  namespace:
    description: Namespace of the Event. It has to be that of the object; for an object of no namespace it is C(default).
    type: str
    required: true
  message:
    description: What happened, for people.
    type: str
    required: true
  reason:
    description: What happened, in one CamelCase word.
    type: str
    required: true
  type:
    description: Whether it is as it should be.
    type: str
    choices: [Normal, Warning]
    default: Normal
  reportingComponent:
    description: Name of the controller that tells of it.
    type: str
  source:
    description: The component that tells of it.
    type: dict
    suboptions:
      component:
        description: Name of the component.
        type: str
        required: true
  involvedObject:
    description: The object that it happened to. It need not exist.
    type: dict
    suboptions:
      apiVersion:
        description: Group and version of its kind.
        type: str
        required: true
      kind:
        description: Its kind.
        type: str
        required: true
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: Its namespace. Without it that of the Event, if the kind has namespaces.
        type: str
  appendTimestamp:
    description: Whether the time becomes part of the name, so that there is a new Event each time.
    type: bool
    default: false
  merge_type:
    description: Has no effect.
    type: list
    elements: str
    choices: [json, merge, strategic-merge]
"""

EXAMPLES = """
- name: Tell that the backup is made
  operator_sdk.util.k8s_event:
    name: "{{ ansible_operator_meta.name }}-backup"
    namespace: "{{ ansible_operator_meta.namespace }}"
    reason: BackedUp
    message: The backup of last night is complete
    reportingComponent: database-operator
    involvedObject:
      apiVersion: example.com/v1
      kind: Database
      name: "{{ ansible_operator_meta.name }}"
      namespace: "{{ ansible_operator_meta.namespace }}"
"""

RETURN = """
result:
  description: The Event; in check mode as it would be. Empty when it was deleted.
  returned: success
  type: dict
"""

ARGUMENTS = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "required": True},
    "message": {"type": "str", "required": True},
    "reason": {"type": "str", "required": True},
    "type": {"type": "str", "choices": ["Normal", "Warning"], "default": "Normal"},
    "reportingComponent": {"type": "str"},
    "source": {"type": "dict", "options": {"component": {"type": "str", "required": True}}},
    "involvedObject": {"type": "dict", "options": {
        "apiVersion": {"type": "str", "required": True},
        "kind": {"type": "str", "required": True},
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str"},
    }},
    "appendTimestamp": {"type": "bool", "default": False},
    "merge_type": {"type": "list", "elements": "str", "choices": ["json", "merge", "strategic-merge"]},
}

MAX_NAME = 253  # characters of an object's name
MERGE_PATCH = "application/merge-patch+json"


class EventRecorder:
    """Records one Event."""

    def __init__(self, module: Any, api: Api, now: datetime) -> None:
        self.module = module
        self.params = module.params
        self.api = api
        self.now = now
        self.name = stamped(self.params["name"], now) if self.params["appendTimestamp"] else self.params["name"]
        self.collection = f"/api/v1/namespaces/{self.params['namespace']}/events"
        self.path = f"{self.collection}/{self.name}"

    def run(self) -> dict[str, Any]:
        """Returns what the module returns. Failures of the API server are the caller's."""
        if self.params["state"] == "absent":
            return self.delete()
        for last in (False, True):
            old = None if self.params["appendTimestamp"] else self.read(self.path)
            event = self.event(old)
            try:
                return {"changed": True, "result": self.write(event, old)}
            except ApiFailure as failure:
                if last or failure.status not in (404, 409):  # somebody made or deleted it in between
                    raise
        raise AssertionError("unreachable")

    def delete(self) -> dict[str, Any]:
        """Deletes the Event if it is there."""
        there = self.read(self.path) is not None
        if there and not self.module.check_mode:
            try:
                self.api.request("DELETE", self.path)
            except ApiFailure as failure:
                if failure.status != 404:
                    raise
        return {"changed": there, "result": {}}

    def write(self, event: dict[str, Any], old: dict[str, Any] | None) -> dict[str, Any]:
        """Creates the Event or overwrites the old one."""
        if self.module.check_mode:
            return event
        if old is None:
            return self.api.request("POST", self.collection, event)
        return self.api.request("PATCH", self.path, event, MERGE_PATCH)

    def event(self, old: dict[str, Any] | None) -> dict[str, Any]:
        """Returns the Event that comes after the old one."""
        params, now = self.params, self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        again = old is not None and old.get("reason") == params["reason"]
        event = {
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": self.name, "namespace": params["namespace"]},
            "type": params["type"], "reason": params["reason"], "message": params["message"],
            "count": (old.get("count") or 0) + 1 if again else 1,
            "firstTimestamp": (old.get("firstTimestamp") if again else None) or now,
            "lastTimestamp": now,
            "involvedObject": self.involved(),
        }
        if params["reportingComponent"]:
            event["reportingComponent"] = params["reportingComponent"]
        if params["source"]:
            event["source"] = {"component": params["source"]["component"]}
        return event

    def involved(self) -> dict[str, Any]:
        """Returns the reference to the object, with its uid and version if it exists."""
        given = self.params["involvedObject"]
        if not given:
            return {"namespace": self.params["namespace"]}
        reference = {field: value for field, value in given.items() if value}
        try:
            resource = self.api.find(given["apiVersion"], given["kind"])
            if resource is None:
                return reference
            if resource.namespaced:
                reference.setdefault("namespace", self.params["namespace"])
            found = self.read(resource.path(reference.get("namespace"), given["name"]))
        except ApiFailure:  # an Event about something that cannot be read is better than none
            return reference
        if found is not None:
            reference.update(uid=found["metadata"]["uid"], resourceVersion=found["metadata"]["resourceVersion"])
        return reference

    def read(self, path: str) -> dict[str, Any] | None:
        """Returns an object, or None if there is none."""
        try:
            return self.api.request("GET", path)
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise


def stamped(name: str, now: datetime) -> str:
    """Returns the name with the time behind it, which is still the name of an object."""
    stamp = now.strftime(".%Y%m%dt%H%M%S%f")
    return name[:MAX_NAME - len(stamp)].rstrip("-.") + stamp


def main() -> None:
    """Runs the module."""
    module = AnsibleModule(argument_spec={**AUTH_ARGUMENTS, **ARGUMENTS}, supports_check_mode=True)
    api = connect(module)
    try:
        module.exit_json(**EventRecorder(module, api, datetime.now(timezone.utc)).run())
    except ApiFailure as failure:
        module.fail_json(msg=f"Failed to record the event: {failure}", error=failure.described())


if __name__ == "__main__":
    main()
