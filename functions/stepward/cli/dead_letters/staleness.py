"""Whether anything would come of a message that was not delivered, now that time has passed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from stepward.domain.messages import StepRequest, ToScheduler
from stepward.domain.task.record import Loaded
from stepward.domain.task.staleness import staleness


class Staleness(StrEnum):
    """What can be done with a message: send it again, or nothing, as the order has moved on or it makes no sense."""

    CURRENT = "current"
    STALE = "stale"
    CORRUPT = "unreadable"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a message stands, and why, in words; `code` is the policy's, where the policy was asked."""

    staleness: Staleness
    reason: str
    code: str = ""


def judge(message: ToScheduler | StepRequest, loaded: Loaded | None, *, now: int) -> Judgement:
    """How `message` stands with the order at `now` (epoch ms)."""
    if loaded is None:
        return Judgement(Staleness.STALE, f"there is no order {message.order_id}")
    if refusal := staleness(message, loaded.task, loaded.plan, now):
        return Judgement(Staleness.STALE, refusal.text, refusal.code)
    return Judgement(Staleness.CURRENT, "it would still have its effect")
