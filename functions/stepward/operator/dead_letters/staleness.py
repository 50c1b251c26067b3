"""Whether an undelivered message would still have an effect."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from stepward.domain.messages import Callback, Cancel, ReportReject, SignalGiven, StepRequest, ToScheduler
from stepward.domain.staleness import staleness
from stepward.domain.task.record import Loaded


class Staleness(StrEnum):
    """Whether to send a message again: yes; no, its order has moved on; or no, nobody can understand it."""

    CURRENT = "current"
    STALE = "stale"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The staleness of a message and the reason, in words; `code` is the policy's refusal code, if it refused."""

    staleness: Staleness
    reason: str
    code: str = ""


def judge(message: ToScheduler | StepRequest, loaded: Loaded | None, *, now: int) -> Judgement:
    """The staleness of `message` at `now` (epoch ms): a dry run of the policy."""
    if loaded is None and isinstance(message, Cancel | SignalGiven):
        return Judgement(Staleness.CURRENT, f"there is no order {message.order_id}; it will wait for it")
    if isinstance(message, ReportReject):
        return Judgement(Staleness.CURRENT, "its submitter has not been told")
    if isinstance(message, Callback):
        return Judgement(Staleness.CURRENT, "the Scheduler will check its token")
    if loaded is None:
        return Judgement(Staleness.STALE, f"there is no order {message.order_id}")
    if refusal := staleness(message, loaded.task, loaded.plan, now):
        return Judgement(Staleness.STALE, refusal.text, refusal.code)
    return Judgement(Staleness.CURRENT, "it would still have its effect")
