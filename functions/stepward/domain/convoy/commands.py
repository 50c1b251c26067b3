"""What an operator asks of an order's lane."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryLane:
    """Try the event again that blocks the lane; its cause is fixed. `command_id` names it."""

    order_id: str
    who: str
    why: str
    command_id: str


@dataclass(frozen=True, slots=True)
class SkipEvent:
    """Skip the event at `position`, which blocks the lane or never came."""

    order_id: str
    position: int
    who: str
    why: str
    command_id: str


@dataclass(frozen=True, slots=True)
class ReplaceEvent:
    """Use `body`, the JSON text of an event, instead of the one that blocks the lane or never came."""

    order_id: str
    position: int
    body: str
    who: str
    why: str
    command_id: str


LaneCommand = RetryLane | SkipEvent | ReplaceEvent
