"""What an operator asks of an order's lane."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryLane:
    """Try the event again at which the lane stands still; the cause is mended. `asked` names this one command."""

    order_id: str
    who: str
    why: str
    asked: str


@dataclass(frozen=True, slots=True)
class SkipEvent:
    """Go on without the event at `place`, which stops the lane or never came."""

    order_id: str
    position: int
    who: str
    why: str
    asked: str


@dataclass(frozen=True, slots=True)
class ReplaceEvent:
    """Take `body`, the JSON text of an event, in place of the one that stops the lane or never came."""

    order_id: str
    position: int
    body: str
    who: str
    why: str
    asked: str


LaneCommand = RetryLane | SkipEvent | ReplaceEvent
