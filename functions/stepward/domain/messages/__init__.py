"""The messages between the parts: to the Scheduler, to the Agents, and back; and those to people.

In each of them `order_id` is the task's key, which names workflow and customer, too, where they are needed.
"""

from __future__ import annotations

from stepward.domain.messages.alerts import AgentDefect, Alert, LaneWaits, StepFailed, StepWaits, TaskAlert
from stepward.domain.messages.notices import Notice, Status
from stepward.domain.messages.to_agent import CheckedRequest, ItemRequest, StepRequest
from stepward.domain.messages.to_scheduler import (
    DOORS,
    MOST_DATA_BYTES,
    OPERATORS,
    SUBMITTERS,
    Answered,
    Callback,
    Cancel,
    ChildEnded,
    ChildHeard,
    ChildSubmit,
    ChildUndo,
    Command,
    Instruction,
    OfChild,
    Outcome,
    Pause,
    Reply,
    Report,
    ReportReject,
    Resubmit,
    Resume,
    Retry,
    SignalGiven,
    Start,
    ToScheduler,
    Undo,
)

__all__ = [
    "DOORS",
    "MOST_DATA_BYTES",
    "OPERATORS",
    "SUBMITTERS",
    "AgentDefect",
    "Alert",
    "Answered",
    "Callback",
    "Cancel",
    "CheckedRequest",
    "ChildEnded",
    "ChildHeard",
    "ChildSubmit",
    "ChildUndo",
    "Command",
    "Instruction",
    "ItemRequest",
    "LaneWaits",
    "Message",
    "Notice",
    "OfChild",
    "Outcome",
    "Pause",
    "Reply",
    "Report",
    "ReportReject",
    "Resubmit",
    "Resume",
    "Retry",
    "SignalGiven",
    "Start",
    "Status",
    "StepFailed",
    "StepRequest",
    "StepWaits",
    "TaskAlert",
    "ToScheduler",
    "Undo",
]

Message = Retry | OfChild | StepRequest | TaskAlert | Notice
