"""Shared records: small records by which instances agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """A small record that all instances share, such as a breaker or a lease; `body` is plain JSON data."""

    name: str
    revision: int
    body: Mapping[str, Any]
