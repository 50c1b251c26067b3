"""What is said between the parts: to the Scheduler, to the Agents, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # who tells of no lane does not load them
    from stepward.domain.convoy.lane import Alerted


@dataclass(frozen=True, slots=True)
class Start:
    """To the Scheduler: an order was submitted."""

    order_id: str


@dataclass(frozen=True, slots=True)
class Retry:
    """To the Scheduler: the Supervisor has set this step to Pending after `attempt`; run it again."""

    order_id: str
    step: str
    attempt: int
    delay: int = 0
    """Milliseconds until it may be told; the queue keeps it for that long."""


@dataclass(frozen=True, slots=True)
class Undo:
    """To the Scheduler: an operator wants all that this order did taken back."""

    order_id: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the Scheduler: the submitter wants the order no more."""

    order_id: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Pause:
    """To the Scheduler: start nothing new for this order until it is resumed."""

    order_id: str
    who: str
    why: str
    asked_at: int = 0
    """When it was asked for, epoch ms; one that comes after a newer opposite is refused. 0 is always new."""


@dataclass(frozen=True, slots=True)
class Resume:
    """To the Scheduler: go on with an order that was paused."""

    order_id: str
    who: str
    why: str
    asked_at: int = 0
    """When it was asked for, epoch ms; one that comes after a newer opposite is refused. 0 is always new."""


@dataclass(frozen=True, slots=True)
class Report:
    """To the Scheduler: tell the submitter where the order stands."""

    order_id: str


@dataclass(frozen=True, slots=True)
class Resubmit:
    """To the Scheduler: an operator has fixed the cause; run the step that ended in Error at `attempt` again."""

    order_id: str
    step: str
    attempt: int
    who: str
    why: str


class Outcome(StrEnum):
    """How an attempt ended: done, or refused for good."""

    OK = "ok"
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True)
class Reply:
    """From an Agent: how one attempt ended. `error` says why a permanent one did."""

    order_id: str
    step: str
    attempt: int
    token: str
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


Command = Resubmit | Undo | Cancel | Pause | Resume
Instruction = Start | Retry | Report | Command
ToScheduler = Instruction | Reply


@dataclass(frozen=True, slots=True)
class StepRequest:
    """To an Agent: run one attempt of a step.

    `complete_by` is epoch milliseconds by the Scheduler's clock; `budget` is the milliseconds that were left
    when the request was made, so that an agent whose clock is behind does not overrun by the difference.
    """

    order_id: str
    step: str
    agent: str
    operation: str
    attempt: int
    token: str
    fence: int
    idempotency_key: str
    complete_by: int
    budget: int
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    order: Mapping[str, Any] = field(default_factory=dict)
    priority: str = "normal"
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class StepFailed:
    """To an operator: a step ended in Error; `standing` names the effects that still stand if an undo failed."""

    order_id: str
    step: str
    attempt: int
    reason: str
    at: int
    remaining_effects: tuple[str, ...] = ()

    @property
    def alert_id(self) -> str:
        """One name per fact, the same at each telling."""
        return f"{self.order_id}/{self.step}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class LaneWaits:
    """To an operator: the lane of an order waits; `event` is what people call the event at which it does."""

    order_id: str
    event: str
    trouble: Alerted
    reason: str
    at: int

    @property
    def alert_id(self) -> str:
        """One name per fact, the same at each telling."""
        return f"{self.order_id}/event {self.event}/{self.trouble.value}/{self.at}"


Alert = StepFailed | LaneWaits


class Status(StrEnum):
    """What a submitter is told of an order."""

    RECEIVED = "received"
    STEP_COMPLETED = "step-completed"
    COMPLETED = "completed"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDO_FAILED = "undo-failed"


@dataclass(frozen=True, slots=True)
class Notice:
    """To the submitter: the order reached `status` at `revision`; a later one has a higher revision."""

    order_id: str
    correlation_id: str
    reply_to: str
    status: Status
    step: str
    revision: int
    at: int


Message = Retry | StepRequest | StepFailed | Notice
