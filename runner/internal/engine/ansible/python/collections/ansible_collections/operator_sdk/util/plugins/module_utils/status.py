"""What a status should be: conditions that are well-formed, and the wanted merged with what is there. No client, no I/O."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

CONDITION_FIELDS = ("type", "status", "reason", "message", "lastHeartbeatTime", "lastTransitionTime")
_TIME_FIELDS = ("lastHeartbeatTime", "lastTransitionTime")
_STATUSES = ("True", "False", "Unknown")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})")


def checked(conditions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the conditions without fields that are not set. A ValueError says what is wrong with one."""
    return [_checked({field: value for field, value in each.items() if value is not None}) for each in conditions]


def _checked(condition: dict[str, Any]) -> dict[str, Any]:
    condition_type = condition.get("type")
    unknown = sorted(set(condition) - set(CONDITION_FIELDS))
    if unknown:
        raise ValueError(f"condition {condition_type!r} has the unknown fields {unknown}; known are {list(CONDITION_FIELDS)}")
    if not isinstance(condition_type, str) or not condition_type:
        raise ValueError("a condition has no type")
    if "status" not in condition:
        raise ValueError(f"condition {condition_type!r} has no status")
    # YAML reads True without quotes as a truth value.
    condition["status"] = str(condition["status"])
    if condition["status"] not in _STATUSES:
        raise ValueError(f"status of condition {condition_type!r} is {condition['status']!r}; use one of {list(_STATUSES)}")
    reason = condition.get("reason")
    if reason is not None and not re.fullmatch("[A-Za-z]+", str(reason)):
        raise ValueError(f"reason of condition {condition_type!r} is {reason!r}; use one CamelCase word of letters")
    for field in _TIME_FIELDS:
        if field in condition and not _TIME.fullmatch(str(condition[field])):
            raise ValueError(f"{field} of condition {condition_type!r} is {condition[field]!r}; "
                             "use a time of RFC 3339 with its zone, like 2026-05-04T10:00:00Z")
    return condition


def merge_patch(current: Any, wanted: Mapping[str, Any], replace_lists: bool) -> dict[str, Any] | None:
    """Returns the merge patch of a status, or None when it holds already what is wanted."""
    current = current if isinstance(current, dict) else {}
    patch = dict(wanted)
    unchanged = True
    if isinstance(wanted.get("conditions"), list):
        present = current.get("conditions")
        patch["conditions"] = merge_conditions(present, wanted["conditions"])
        unchanged = patch["conditions"] == (present or [])
    rest = {key: value for key, value in wanted.items() if key != "conditions" or not isinstance(value, list)}
    return None if unchanged and holds(current, rest, replace_lists) else patch


def merge_conditions(current: Any, wanted: Sequence[Any]) -> list[Any]:
    """Returns the current conditions with the wanted ones in the place of those of the same type, new ones last.

    One that differs in nothing but the time of its transition stays as it is. One that differs, though not in its
    status, keeps that time unless a new one is given: it has made no transition.
    """
    merged = list(current) if isinstance(current, list) else []
    for each in wanted:
        at = next((i for i, old in enumerate(merged) if _same_type(old, each)), None)
        if at is None:
            if each not in merged:
                merged.append(each)
        elif _substance(merged[at]) != _substance(each):
            merged[at] = _keep_transition(merged[at], each)
    return merged


def _same_type(a: Any, b: Any) -> bool:
    return isinstance(a, dict) and isinstance(b, dict) and a.get("type") is not None and a.get("type") == b.get("type")


def _substance(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in condition.items() if field != "lastTransitionTime"}


def _keep_transition(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    since = old.get("lastTransitionTime")
    if since is None or "lastTransitionTime" in new or old.get("status") != new.get("status"):
        return dict(new)
    return {**new, "lastTransitionTime": since}


def holds(current: Any, wanted: Any, replace_lists: bool) -> bool:
    """Reports whether a merge of wanted into current would change nothing.

    A list is held by one that has all its items, or by the same list only where lists are to be replaced. None stands
    for a key that is not there, as in a merge patch.
    """
    if isinstance(wanted, dict):
        if not isinstance(current, dict):
            return False
        return all(current.get(key) is None if value is None else key in current and holds(current[key], value, replace_lists)
                   for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(current, list) and not replace_lists:
        return all(any(holds(there, item, replace_lists) for there in current) for item in wanted)
    return isinstance(current, bool) == isinstance(wanted, bool) and current == wanted


def merged(current: Any, patch: Any) -> Any:
    """Returns what a merge patch makes of current, as the API server does it."""
    if not isinstance(patch, dict):
        return patch
    result = dict(current) if isinstance(current, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
