"""An order as it is submitted, and how its submission ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Order:
    """An accepted order: its task's key, its canonical text, and the hash that tells a duplicate from a conflict."""

    order_id: str
    body: str
    content_hash: str


class Submission(Enum):
    """How a submission ended."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
