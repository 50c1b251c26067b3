"""The messages between the parts: to the Scheduler, to the Agents, and back; and those to people.

In each of them `order_id` is the task's key, which names workflow and customer, too, where they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a function without lanes does not load them
    from stepward.domain.convoy.lane import Alerted


@dataclass(frozen=True, slots=True)
class Start:
    """To the Scheduler: an order was submitted."""

    order_id: str


@dataclass(frozen=True, slots=True)
class Retry:
    """To the Scheduler: this step is Pending again after `attempt`; claim it."""

    order_id: str
    step: str
    attempt: int
    delay: int = 0
    """Milliseconds for which the queue holds it back."""


@dataclass(frozen=True, slots=True)
class _Asked:
    order_id: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class Undo(_Asked):
    """To the Scheduler: an operator wants all that this order did undone."""


@dataclass(frozen=True, slots=True)
class Cancel(_Asked):
    """To the Scheduler: the submitter no longer wants the order."""

    customer_id: str = ""
    """The customer that the submitter named, or empty; an order of another customer is not cancelled."""


@dataclass(frozen=True, slots=True)
class _AskedAt(_Asked):
    asked_at: int = 0
    """When it was asked for, epoch ms; one that comes after a newer opposite is refused. 0 is always new."""


@dataclass(frozen=True, slots=True)
class Pause(_AskedAt):
    """To the Scheduler: start nothing new for this order until it is resumed."""


@dataclass(frozen=True, slots=True)
class Resume(_AskedAt):
    """To the Scheduler: go on with an order that was paused."""


@dataclass(frozen=True, slots=True)
class Report:
    """To the Scheduler: notify the submitter of the order's status."""

    order_id: str


@dataclass(frozen=True, slots=True)
class ReportReject:
    """To the Scheduler: notify a submitter that its own message was rejected; `name` is the same each time."""

    order_id: str
    correlation_id: str
    reply_to: str
    name: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Resubmit:
    """To the Scheduler: an operator has fixed the cause; run the step again that ended in Error at `attempt`."""

    order_id: str
    step: str
    attempt: int
    who: str
    why: str


class Outcome(StrEnum):
    """How an attempt ended: done, or refused for good; or that it has not.

    One that was not understood has not begun: the agent's code does not know it. One that is failing goes on to
    complete-by. One that is waiting has not begun, for its agent's rate is used up: it needs more time.
    """

    OK = "ok"
    PERMANENT = "permanent"
    NOT_UNDERSTOOD = "not-understood"
    FAILING = "failing"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Reply:
    """From an Agent: how one attempt ended. `error` says why a permanent one did, or what another one met or lacks.

    `complete_by` is that of the request that needs more time; 0 otherwise.
    """

    order_id: str
    step: str
    attempt: int
    token: str
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    complete_by: int = 0


Command = Resubmit | Undo | Cancel | Pause | Resume
Instruction = Start | Retry | Report | ReportReject | Command
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
    delay: int = 0
    """Milliseconds for which the queue holds it back."""


@dataclass(frozen=True, slots=True)
class CheckedRequest(StepRequest):
    """To an Agent: run one attempt of a step, or of its undo, whose service honours no idempotency key.

    The operation `check` tells whether an earlier call had its effect. It is a message of its own, so that code that
    knows no checks puts it back, and never calls twice.
    """

    check: str = ""


@dataclass(frozen=True, slots=True)
class StepFailed:
    """To an operator: a step ended in Error; `remaining_effects` names what is not undone if an undo failed."""

    order_id: str
    step: str
    attempt: int
    reason: str
    at: int
    remaining_effects: tuple[str, ...] = ()

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/{self.step}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class StepWaits:
    """To an operator: a step has been waiting for what its deployment lacks; `reason` says for what, and what to do."""

    order_id: str
    step: str
    attempt: int
    reason: str
    at: int

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/{self.step}/waits/{self.at}"


@dataclass(frozen=True, slots=True)
class LaneWaits:
    """To an operator: the lane of an order waits; `event` is the name of the event at which it does."""

    order_id: str
    event: str
    trouble: Alerted
    reason: str
    at: int

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.order_id}/event {self.event}/{self.trouble.value}/{self.at}"


TaskAlert = StepFailed | StepWaits


@dataclass(frozen=True, slots=True)
class AgentDefect:
    """To an operator: an agent's code or a setting is at fault since `since`, or no longer, if it is `over`.

    `error` is the exception, `orders` counts the orders that met it, `place` is where it rose.
    """

    agent: str
    operation: str
    name: str
    place: str
    error: str
    orders: int
    since: int
    at: int
    over: bool = False
    is_setting: bool = False

    @property
    def alert_id(self) -> str:
        """The alert's name, the same each time it is sent."""
        return f"{self.agent}/{self.operation}/{self.name}/{'over' if self.over else 'defect'}/{self.since}"

    @property
    def order_id(self) -> str:
        """None: it is about no order."""
        return ""

    @property
    def reason(self) -> str:
        """What it says, in short."""
        if self.over:
            return f"{self.operation} works again; it had failed with {self.error}"
        return f"{self.operation} fails with {self.error} in {self.orders} order{'' if self.orders == 1 else 's'}"


Alert = TaskAlert | LaneWaits | AgentDefect


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


Message = Retry | StepRequest | TaskAlert | Notice
