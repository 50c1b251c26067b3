"""Notices to submitters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The status of an order that a submitter is notified of."""

    RECEIVED = "received"
    STEP_COMPLETED = "step-completed"
    COMPLETED = "completed"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDO_FAILED = "undo-failed"


@dataclass(frozen=True, slots=True)
class Notice:
    """To the submitter: the order reached `status` at `revision`; a later one has a higher revision.

    `reason` is "complete-by" if that had passed, and its policy was applied.
    """

    order_id: str
    correlation_id: str
    reply_to: str
    status: Status
    step: str
    revision: int
    at: int
    reason: str = ""
