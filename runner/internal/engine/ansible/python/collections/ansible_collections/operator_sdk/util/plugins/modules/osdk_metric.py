"""Reports a metric to the operator."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule, env_fallback

DOCUMENTATION = """
module: osdk_metric
short_description: Reports a metric to the operator
description:
  - The operator shows the metric beside its own, labelled with group, version, kind, namespace and name of the resource that the run is for,
    and drops it when the resource is gone.
  - One of C(counter), C(gauge), C(histogram) and C(summary) is given. An empty one makes the metric and leaves its value alone.
  - The type of a metric stays what it was at first.
  - In check mode nothing is reported.
options:
  name:
    description: Name of the metric, of letters, digits, C(_) and C(:). Names of the operator's own metrics are refused.
    type: str
    required: true
  description:
    description: What the metric measures.
    type: str
    required: true
  address:
    description:
      - Where to report to.
      - Without it C(CHARTBOOK_METRICS_URL), which is set in an operator's run, else C(http://localhost:5050/metrics), where metrics get no labels.
    type: str
  counter:
    description: A value that only grows.
    type: dict
    suboptions:
      increment:
        description: Whether to add 1.
        type: bool
      add:
        description: What to add; not below 0.
        type: float
  gauge:
    description: A value that goes up and down. Of several of these the first one that asks for something counts.
    type: dict
    suboptions:
      increment:
        description: Whether to add 1.
        type: bool
      decrement:
        description: Whether to subtract 1.
        type: bool
      add:
        description: What to add.
        type: float
      subtract:
        description: What to subtract.
        type: float
      set:
        description: The new value.
        type: float
      set_to_current_time:
        description: Whether the new value is the time, in seconds since 1970.
        type: bool
  histogram:
    description: Values that are counted by size.
    type: dict
    suboptions:
      observe:
        description: A value.
        type: float
  summary:
    description: Values of which number and sum are kept.
    type: dict
    suboptions:
      observe:
        description: A value.
        type: float
"""

EXAMPLES = """
- name: Count the backups
  operator_sdk.util.osdk_metric:
    name: app_backups_total
    description: Backups that were made
    counter:
      increment: true

- name: Tell how many replicas there are
  operator_sdk.util.osdk_metric:
    name: app_replicas
    description: Replicas that are ready
    gauge:
      set: "{{ found.resources[0].status.readyReplicas | default(0) }}"
"""

RETURN = """
status_code:
  description: What the operator answered.
  returned: failure
  type: int
"""

DEFAULT_ADDRESS = "http://localhost:5050/metrics"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TIMEOUT = 30  # seconds
MAX_ANSWER = 4096  # bytes that are read of an answer

_OPERATIONS = {
    "counter": {"increment": "bool", "add": "float"},
    "gauge": {"increment": "bool", "decrement": "bool", "add": "float", "subtract": "float", "set": "float",
              "set_to_current_time": "bool"},
    "histogram": {"observe": "float"},
    "summary": {"observe": "float"},
}

ARGUMENTS = {
    "name": {"type": "str", "required": True},
    "description": {"type": "str", "required": True},
    "address": {"type": "str", "fallback": (env_fallback, ["CHARTBOOK_METRICS_URL"])},
    **{kind: {"type": "dict", "options": {name: {"type": value} for name, value in operations.items()}}
       for kind, operations in _OPERATIONS.items()},
}


def report(params: dict[str, Any]) -> dict[str, Any]:
    """Returns what is sent: nothing that is not set."""
    body = {"name": params["name"], "description": params["description"]}
    for kind in _OPERATIONS:
        if params[kind] is not None:
            body[kind] = {name: value for name, value in params[kind].items() if value is not None}
    return body


def send(address: str, body: dict[str, Any]) -> tuple[int, str]:
    """Returns status and text of the answer. Raises OSError or ValueError when there is none."""
    request = urllib.request.Request(
        address, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"}, method="POST")
    handlers = []
    if urlsplit(address).hostname in LOOPBACK:
        handlers.append(urllib.request.ProxyHandler({}))  # the way to the operator leads through no proxy
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT) as answer:
            return answer.status, answer.read(MAX_ANSWER).decode("utf-8", "replace")
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read(MAX_ANSWER).decode("utf-8", "replace")


def run(module: Any) -> None:
    """Reports the metric and ends the module."""
    if module.check_mode:
        module.exit_json(changed=True)
    address = module.params["address"] or DEFAULT_ADDRESS
    try:
        status, text = send(address, report(module.params))
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"Failed to report the metric to {address}: {getattr(error, 'reason', error)}")
    if status != 200:
        module.fail_json(msg=text.strip(), status_code=status)
    module.exit_json(changed=True)


def main() -> None:
    """Runs the module."""
    run(AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True))


if __name__ == "__main__":
    main()
