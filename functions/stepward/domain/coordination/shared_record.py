"""Shared records: small records by which instances agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """A small record that all instances share, such as a breaker or a lease; `body` is plain JSON data."""

    name: str
    revision: int
    body: Mapping[str, Any]


def read_as(kind: type[Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """What `body` holds for the fields of the dataclass `kind`; what newer code added is passed over."""
    return {each.name: body[each.name] for each in fields(kind) if each.name in body}


def with_extras(body: Mapping[str, Any], before: Mapping[str, Any], understood: Mapping[str, Any]) -> dict[str, Any]:
    """`body` with what the record held `before` beyond what this code `understood` of it, at any depth."""
    kept = {name: value for name, value in before.items() if name not in understood}
    return kept | {name: _with_extras(value, before.get(name), understood.get(name)) for name, value in body.items()}


def _with_extras(value: Any, before: Any, understood: Any) -> Any:
    deep = all(isinstance(each, Mapping) for each in (value, before, understood))
    return with_extras(value, before, understood) if deep else value
