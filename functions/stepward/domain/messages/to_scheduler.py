"""Messages to the Scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


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


OPERATORS, SUBMITTERS = DOORS = ("operators", "submitters")
"""Who may give a signal: those who may send to the Scheduler's queue, or to the orders queue."""
MOST_DATA_BYTES = 2_000
"""How much data a signal carries, as JSON."""


@dataclass(frozen=True, slots=True)
class SignalGiven:
    """To the Scheduler: somebody gives the signal that `step` waits for, or refuses it, if `refused` says why.

    `signal_id` is the sender's own name for it, so that twice is once. `door` is one of DOORS: whoever passes the
    message on sets it, and no sender can.
    """

    order_id: str
    step: str
    signal_id: str
    data: Mapping[str, Any] = field(default_factory=dict)
    refused: str = ""
    who: str = ""
    door: str = ""
    customer_id: str = ""

    @property
    def why(self) -> str:
        """What the audit log says of it."""
        return self.refused or self.signal_id


class Outcome(StrEnum):
    """How an attempt ended: done, or refused for good; or that it has not.

    One that is later has been handed over: the service itself answers it by a callback. One was not understood if the
    agent's code does not know it, so that it has not begun, or the Scheduler's its end. One that is failing goes on to
    complete-by. One that is waiting has not begun, for its agent's rate is used up: it needs more time.
    """

    OK = "ok"
    LATER = "later"
    PERMANENT = "permanent"
    NOT_UNDERSTOOD = "not-understood"
    FAILING = "failing"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Reply:
    """From an Agent: how one attempt ended. `error` says why a permanent one did, or what another one met or lacks.

    `complete_by` is that of the request that needs more time; 0 otherwise. `size` is the bytes of a result that is too
    large to be kept with its step, and 0 of any other.
    """

    order_id: str
    step: str
    attempt: int
    token: str
    outcome: Outcome
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    complete_by: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Callback:
    """To the Scheduler: a service that took a step over says how it ended; `error` says why one failed.

    `callback` is the token that the service got with the call; only the Scheduler can read it.
    """

    callback: str
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def order_id(self) -> str:
        """None that anybody else could read."""
        return ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a callback says, once its token is known to be ours: how a step ended that a service took over.

    `attempt` is that of the call with which it took over, `effect` what that call had in its idempotency key, and
    `created_at` the order's time of submission; `error` says why the step failed.
    """

    step: str
    effect: str
    attempt: int
    created_at: int
    result: Mapping[str, Any]
    error: str = ""


@dataclass(frozen=True, slots=True)
class _OfChild:
    order_id: str
    step: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class ChildSubmit(_OfChild):
    """To the Scheduler: `attempt` of this step, a child of the order, begins; submit the child, or have it tell."""


@dataclass(frozen=True, slots=True)
class ChildUndo(_OfChild):
    """To the Scheduler: undo the child that this step of the order is, whether it has ended, runs or never came."""

    who: ClassVar[str] = "its parent"
    why: ClassVar[str] = "the order that it is a part of is undone"


@dataclass(frozen=True, slots=True)
class ChildEnded(_OfChild):
    """To the Scheduler: the child that this step of the order is was done, with this result, or was `undone`.

    `error` says why it cannot be.
    """

    undone: bool = False
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class ChildHeard:
    """To the Scheduler: the parent of this child knows that it was done, or `undone`."""

    order_id: str
    undone: bool = False


OfChild = ChildSubmit | ChildUndo | ChildEnded | ChildHeard
Command = Resubmit | Undo | Cancel | Pause | Resume | SignalGiven
Instruction = Start | Retry | Report | ReportReject | Callback | OfChild | Command
ToScheduler = Instruction | Reply
