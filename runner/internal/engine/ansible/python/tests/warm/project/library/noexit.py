#!/usr/bin/python
"""Comes to its end without a result."""

from ansible.module_utils.basic import AnsibleModule  # noqa: F401
