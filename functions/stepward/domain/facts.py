"""What happened, as values: the source of log lines, metrics and a task's history."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    """Everything worth telling; the names are what people read in a timeline."""

    SUBMITTED = "Submitted"
    DUPLICATE = "Duplicate"
    CONFLICT = "Conflict"
    REJECTED = "Rejected"
    IGNORED = "Ignored"
    CLAIMED = "Claimed"
    COMPLETED = "Completed"
    PROCESSED = "Processed"
    FAILED = "Failed"
    RECOVERED = "Recovered"
    EXCUSED = "Excused"
    REMINDED = "Reminded"
    WAITING = "Waiting"
    FELL_BACK = "FellBack"
    UNDO_BEGUN = "UndoBegun"
    UNDONE = "Undone"
    PAUSED = "Paused"
    RESUMED = "Resumed"
    LATE_REPLY = "LateReply"
    LATE_EFFECT = "LateEffect"
    ALERTED = "Alerted"
    RESUBMITTED = "Resubmitted"
    REFUSED = "Refused"
    EXPIRED = "Expired"
    CALL_FAILED = "CallFailed"
    SILENT = "Silent"
    UNREADABLE = "Unreadable"
    POSTPONED = "Postponed"
    NOTICE_LOST = "NoticeLost"
    PUT_BACK = "PutBack"
    BREAKER_OPENED = "BreakerOpened"
    BREAKER_PROBING = "BreakerProbing"
    BREAKER_CLOSED = "BreakerClosed"
    OVERTIME = "Overtime"
    APPLIED = "Applied"
    PARKED = "Parked"
    BLOCKED = "Blocked"
    PASSED_OVER = "PassedOver"
    REPLACED = "Replaced"
    RETRIED = "Retried"
    ENDED = "Ended"
    GAP = "Gap"
    IDLE = "Idle"
    SPLIT = "Split"
    UNLEASED = "Unleased"

    @property
    def change(self) -> tuple[str, str] | None:
        """The step's state before and after, where the fact is a change of state."""
        return _CHANGES.get(self)


_CHANGES = {
    FactKind.CLAIMED: ("Pending", "Processing"),
    FactKind.COMPLETED: ("Processing", "Processed"),
    FactKind.FAILED: ("Processing", "Error"),
    FactKind.RECOVERED: ("Processing", "Pending"),
    FactKind.EXCUSED: ("Processing", "Pending"),
    FactKind.WAITING: ("Processing", "Pending"),
    FactKind.FELL_BACK: ("Processing", "Pending"),
    FactKind.RESUBMITTED: ("Error", "Pending"),
}

OVERDUE = frozenset(
    {
        FactKind.RECOVERED,
        FactKind.EXCUSED,
        FactKind.REMINDED,
        FactKind.WAITING,
        FactKind.FELL_BACK,
        FactKind.FAILED,
    }
)
"""What the Supervisor makes of a step that is overdue; the fact's value is by how much, in milliseconds."""

TROUBLES = frozenset(
    {
        FactKind.FAILED,
        FactKind.RECOVERED,
        FactKind.EXCUSED,
        FactKind.REMINDED,
        FactKind.WAITING,
        FactKind.FELL_BACK,
        FactKind.UNDO_BEGUN,
        FactKind.UNDONE,
        FactKind.PAUSED,
        FactKind.RESUMED,
        FactKind.LATE_EFFECT,
        FactKind.ALERTED,
        FactKind.RESUBMITTED,
    }
)
"""What a task remembers of itself; the rest can be read off its step records."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that happened at `at` (epoch ms); `value` is the fact's own measure, in milliseconds.

    `by` is who held the step or who acted, `note` the reason in words.
    """

    at: int
    kind: FactKind
    step: str = ""
    attempt: int = 0
    by: str = ""
    note: str = ""
    value: int = 0
