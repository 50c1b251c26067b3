"""History entries: the source of log lines and metrics; a task keeps the newest of its troubles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, StrEnum, auto
from typing import Any, Self

from stepward.domain.errors import Corrupt, NotUnderstood, StepwardError


class Mark(Flag):
    """What the parts do with a history entry."""

    WARNING = auto()
    """It is logged as a warning."""
    REMEMBERED = auto()
    """A task keeps it; the other entries follow from its step records."""
    OVERDUE = auto()
    """The Supervisor made it for an overdue step; the entry's value is by how many milliseconds."""
    MILESTONE = auto()
    """The submitter is notified of the state that it brought the order to."""
    NEW_START = auto()
    """The time that the order may take counts from here again."""
    ROUTINE = auto()
    """It belongs to the ordinary course: only full watching counts it, and each log has it."""
    TELLS = auto()
    """One is enough to tell somebody: it concerns a single order or message, or ends by itself."""
    WAKES = auto()
    """One is enough to wake somebody."""


PLAIN = Mark(0)
# So that a row of the table stays a line.
WARNING, REMEMBERED, OVERDUE, MILESTONE, NEW_START, ROUTINE, TELLS, WAKES = Mark


class HistoryKind(StrEnum):
    """The kinds of history entries: each has its name, the metric that counts it, and its marks.

    A change of state names the step's state before and after; a measured one names the metric of its value, in ms.
    """

    _value_: str
    metric: str
    marks: Mark
    change: tuple[str, str] | None
    timer: str

    def __new__(
        cls, name: str, metric: str = "", marks: Mark = PLAIN, change: tuple[str, str] | None = None, timer: str = ""
    ) -> Self:
        """A row of the table below."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.metric, kind.marks, kind.change, kind.timer = metric, marks, change, timer
        return kind

    SUBMITTED = "Submitted", "Submitted"
    DUPLICATE = "Duplicate", "Duplicates"
    CONFLICT = "Conflict", "Conflicts", WARNING
    REJECTED = "Rejected", "Rejected", WARNING | TELLS
    IGNORED = "Ignored", "Ignored", ROUTINE
    CLAIMED = "Claimed", "Claimed", ROUTINE, ("Pending", "Processing")
    COMPLETED = "Completed", "", PLAIN, ("Processing", "Processed")
    PROCESSED = "Processed", "Processed", ROUTINE | MILESTONE, None, "SubmissionToEnd"
    FAILED = "Failed", "Failed", WARNING | REMEMBERED | OVERDUE | MILESTONE | TELLS, ("Processing", "Error")
    RECOVERED = "Recovered", "Recovered", WARNING | REMEMBERED | OVERDUE, ("Processing", "Pending")
    UNCOUNTED = "Uncounted", "Uncounted", WARNING | REMEMBERED | OVERDUE, ("Processing", "Pending")
    EXTENDED = "Extended"
    REMINDED = "Reminded", "Reminded", WARNING | REMEMBERED | OVERDUE
    WAITING = "Waiting", "", REMEMBERED | OVERDUE, ("Processing", "Pending")
    FELL_BACK = "FellBack", "", REMEMBERED | OVERDUE, ("Processing", "Pending")
    HANDED_OVER = "HandedOver", "HandedOver", ROUTINE
    FORGED = "Forged", "Forged", WARNING | TELLS
    STEP_SKIPPED = "StepSkipped", "StepsSkipped", ROUTINE, ("Pending", "Skipped")
    SIGNALLED = "Signalled", "Signalled", REMEMBERED | ROUTINE
    UNDO_BEGUN = "UndoBegun", "", REMEMBERED | MILESTONE | NEW_START
    UNDONE = "Undone", "", REMEMBERED | MILESTONE
    TIMED_OUT = "TimedOut", "TimedOut", WARNING | REMEMBERED
    PAUSED = "Paused", "", REMEMBERED
    RESUMED = "Resumed", "", REMEMBERED | NEW_START
    LATE_REPLY = "LateReply", "LateReplies", WARNING
    LATE_EFFECT = "LateEffect", "", REMEMBERED
    ALERTED = "Alerted", "Alerted", REMEMBERED
    RESUBMITTED = "Resubmitted", "Resubmitted", REMEMBERED | NEW_START, ("Error", "Pending")
    EARLY = "Early", "EarlyCancellations"
    UNMET = "Unmet", "UnmetCancellations", WARNING
    REFUSED = "Refused"
    EXPIRED = "Expired", "Expired"
    CALL_FAILED = "CallFailed", "CallsFailed"
    SILENT = "Silent", "Silent"
    CORRUPT = "Corrupt", "Corrupt", WARNING | WAKES
    POSTPONED = "Postponed", "Postponed", WARNING
    NOTICE_LOST = "NoticeLost", "NoticesLost", WARNING
    RETRY_LATER = "RetryLater", "RetryLater", ROUTINE
    NOT_UNDERSTOOD = "NotUnderstood", "NotUnderstood", WARNING, None, "NotUnderstoodAge"
    LACKING = "Lacking", "Lacking", WARNING | REMEMBERED
    BREAKER_OPENED = "BreakerOpened", "BreakerOpened", WARNING | TELLS
    BREAKER_PROBING = "BreakerProbing", "BreakerProbing"
    BREAKER_CLOSED = "BreakerClosed", "BreakerClosed"
    OVERTIME = "Overtime", "Overtime", WARNING | TELLS
    APPLIED = "Applied", "Applied"
    PARKED = "Parked", "Parked", ROUTINE
    BLOCKED = "Blocked", "Blocked", WARNING | TELLS
    SKIPPED = "Skipped", "Skipped", WARNING
    REPLACED = "Replaced"
    RETRIED = "Retried"
    ENDED = "Ended", "Ended", ROUTINE
    GAP = "Gap", "Gaps", WARNING | TELLS
    IDLE = "Idle", "Idle", WARNING
    SPLIT = "Split", "Ledgers", ROUTINE
    UNLEASED = "Unleased", "Unleased", WARNING
    CAME_BACK = "CameBack", "CameBack", WARNING | TELLS
    DEAD_LETTERS = "DeadLetters", "DeadLetters", WARNING
    CROWDED = "Crowded", "Crowded", WARNING | WAKES
    UNCHECKED = "Unchecked", "Unchecked", WARNING | TELLS

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """A kind that newer code wrote: it keeps its name, and this code passes over it."""
        if not isinstance(value, str):
            return None
        kind = str.__new__(cls, value)
        kind._name_ = kind._value_ = value
        kind.metric, kind.marks, kind.change, kind.timer = "", PLAIN, None, ""
        return kind


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened, `at` epoch ms; `value` is its own measure, in milliseconds.

    `by` is who held the step or who acted, `note` the reason. `extra` is what newer code added: it is kept.
    """

    at: int
    kind: HistoryKind
    step: str = ""
    attempt: int = 0
    by: str = ""
    note: str = ""
    value: int = 0
    extra: tuple[Any, ...] = ()


def trouble(error: StepwardError) -> HistoryKind:
    """The kind of entry that says why something was left for later."""
    if isinstance(error, NotUnderstood):
        return HistoryKind.NOT_UNDERSTOOD
    return HistoryKind.CORRUPT if isinstance(error, Corrupt) else HistoryKind.POSTPONED


@dataclass(frozen=True, slots=True)
class TracedEntry(HistoryEntry):
    """An entry with a traceback, which is for the log alone: no record keeps it."""

    trace: str = ""
