"""The documentation of requeue_after; the action plugin of the same name does the work."""

from __future__ import annotations

DOCUMENTATION = """
module: requeue_after
short_description: Runs the play again after a while
description:
  - Asks the operator to run the play for this resource again when the given time is over.
  - The rest of the play is carried out first.
options:
  time:
    description: How long to wait, in hours, minutes and seconds, like C(1h30m) or C(45s).
    type: str
    required: true
"""

EXAMPLES = """
- name: Look again in a minute
  operator_sdk.util.requeue_after:
    time: 1m
"""

RETURN = """
period:
  description: The time that was asked for.
  returned: success
  type: str
"""
