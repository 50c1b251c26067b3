"""Reads fields of a message whose shape nobody promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a JSON object."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)


def at(value: object, *path: str) -> Any:
    """The value at the end of a path; None if the path breaks off."""
    for name in path:
        value = value.get(name) if is_object(value) else None
    return value


def listed(value: object, name: str) -> list[object]:
    """The list in a field; an empty one if there is none."""
    found = at(value, name)
    return found if is_list(found) else []


def said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
