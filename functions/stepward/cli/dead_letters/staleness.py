"""Whether anything would come of a message that was not delivered, now that time has passed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from stepward.domain.messages import StepRequest, ToScheduler
from stepward.domain.task.record import Loaded
from stepward.domain.task.staleness import staleness


class Standing(StrEnum):
    """What can be done with a message: send it again, or nothing, as the order has moved on or it makes no sense."""

    CURRENT = "current"
    STALE = "stale"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a message stands, and why, in words; `code` is the policy's, where the policy was asked."""

    standing: Standing
    reason: str
    code: str = ""


def judge(message: ToScheduler | StepRequest, loaded: Loaded | None, *, now: int) -> Verdict:
    """How `message` stands with the order at `now` (epoch ms)."""
    if loaded is None:
        return Verdict(Standing.STALE, f"there is no order {message.order_id}")
    if refusal := staleness(message, loaded.task, loaded.plan, now):
        return Verdict(Standing.STALE, refusal.text, refusal.code)
    return Verdict(Standing.CURRENT, "it would still have its effect")
