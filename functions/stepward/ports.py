"""What the core needs from outside; each port has an AWS adapter and an in-memory twin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # a function loads what its own ports speak of, and no more
    from stepward.domain.errors import Unreadable
    from stepward.domain.facts import Fact
    from stepward.domain.lane import Lane
    from stepward.domain.messages import Alert, Instruction, Notice, Reply, StepRequest
    from stepward.domain.order_event import Kept
    from stepward.domain.plan import Plan
    from stepward.domain.task import ProcessState, Task


@dataclass(frozen=True, slots=True)
class Order:
    """An accepted order: its id, its canonical JSON text, and the hash that tells a duplicate from a conflict."""

    order_id: str
    body: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A task as it stands, with its plan and the order it works on."""

    task: Task
    plan: Plan
    order: Mapping[str, Any]


class Submission(Enum):
    """How a submission ended."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


class Orders(Protocol):
    """The orders database."""

    def find(self, order_id: str) -> Order | None:
        """The order under this id, read consistently; None if there is none."""


class TaskStore(Protocol):
    """The state store: one record per task, one conditional write per change."""

    def submit(self, order: Order, task: Task, plan: Plan) -> Submission:
        """Put the order and its task in one atomic operation, once; raises Transient."""

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """The task, its plan and, if wanted, its order, read consistently; None if there is none.

        Raises Transient, or Unreadable if the record cannot be understood.
        """

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Write `task` if the record is still at the revision of `replaces`; False if somebody was faster."""

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The ids of tasks of `shard` that wait for something up to `until` (epoch ms), oldest first.

        A hint: it may be stale or doubled, never late.
        """

    def needing_attention(self) -> Iterator[str]:
        """The ids of tasks that wait for an operator, oldest first: a hint, like `due`."""

    def every(self, state: ProcessState | None) -> Iterator[Task | Unreadable]:
        """Every task, or those in `state`, in no order: a look through the whole store, for people.

        What cannot be understood comes as the error that says so, and does not keep the rest from coming.
        """


@dataclass(frozen=True, slots=True)
class LaneMessage:
    """The text of one event or command for the lane of an order; `name` is the same each time it is sent.

    One that is `alone` has no number: nothing but the queue's order tells the lane where it belongs.
    """

    order_id: str
    name: str
    body: str
    alone: bool = False

    @staticmethod
    def of_ledger(order_id: str, ledger_id: str, index: int, body: str, *, alone: bool = False) -> LaneMessage:
        """The entry at `index` of a ledger."""
        return LaneMessage(order_id, f"{ledger_id}/{index}", body, alone)


class LaneQueue(Protocol):
    """The queue to the lanes of the orders."""

    def send(self, messages: Sequence[LaneMessage]) -> None:
        """Send each to the lane of its order: in sequence per order, and none past one that could not be sent.

        Raises Transient if anything could not be sent.
        """


class Lanes(Protocol):
    """Where the lanes are kept: one record per order, a row per event, one conditional write per change."""

    def load(self, order_id: str) -> Lane | None:
        """The lane, read consistently; None if there is none. Raises Transient or Unreadable."""

    def rows(self, order_id: str, first: int, most: int) -> Sequence[Kept]:
        """The first `most` rows from the place `first` on, in their order; raises Transient or Unreadable."""

    def save(self, lane: Lane, *, replaces: Lane, rows: Sequence[Kept] = (), older: Sequence[Kept] = ()) -> bool:
        """Write the lane and its new `rows` at once, if it is still at the revision of `replaces` (0: absent).

        `older` are events that `replaces` held and `lane` holds no more: they get rows of their own before. False if
        somebody was faster; raises Transient.
        """

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The ids of orders of `shard` whose lane is to be looked at up to `until` (epoch ms): a hint, never late."""

    def needing_attention(self) -> Iterator[str]:
        """The ids of orders whose lane waits for an operator, oldest first: a hint."""


class Ledgers(Protocol):
    """Where ledgers lie that are too large for a message: one object each, with one entry per line."""

    def version(self, key: str) -> str | None:
        """The name of the object's present version; None if there is no such object. Raises Transient."""

    def read(self, key: str, version: str, start: int) -> Iterator[bytes]:
        """The object's bytes from `start` on, in pieces, of exactly that version; raises Transient."""


class Queues(Protocol):
    """The queues that join the parts. Each raises Transient if anything could not be sent."""

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Send to the Scheduler."""

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once; raises Transient."""


class Alerts(Protocol):
    """The way to a person."""

    def tell(self, alert: Alert) -> bool:
        """Tell an operator; False if it has to wait for a summary. Raises Transient if it could not be sent."""

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Tell all of them in one message; raises Transient if it could not be sent."""


class Notices(Protocol):
    """The way to a submitter."""

    def post(self, notice: Notice) -> None:
        """Tell the submitter, if its queue can be used; a notice that cannot be posted is counted and no more.

        Raises Transient if the queue is busy or cannot be reached.
        """


@dataclass(frozen=True, slots=True)
class Reject:
    """A message that could not be accepted, kept for an operator.

    `source` is the queue it came from, `received_at` epoch ms of its arrival in that queue. The pair of
    `received_at` and `message_id` names it, so keeping it twice keeps it once.
    """

    message_id: str
    source: str
    received_at: int
    field: str
    reason: str
    body: str
    order_id: str = ""


class Rejects(Protocol):
    """Where messages that could not be accepted are kept, whole."""

    def keep(self, reject: Reject) -> None:
        """Keep it; raises Transient if it could not be kept."""

    def newest(self, limit: int) -> Sequence[Reject]:
        """The newest rejects first, at most `limit`."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one run of the Supervisor found: tasks and lanes listed as due, steps overdue, the oldest's age in ms.

    `swept` shards were looked through to their end, `skipped` ones were held by another Supervisor; `complete` says
    that no shard of its own was left early.
    """

    listed: int = 0
    overdue: int = 0
    oldest: int = 0
    complete: bool = True
    swept: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Control:
    """A small record that all instances share, such as a breaker or a lease; `body` is plain JSON data."""

    name: str
    revision: int
    body: Mapping[str, Any]

    @staticmethod
    def following(before: Control | None, name: str, body: Mapping[str, Any]) -> Control:
        """What `body` makes of the record under `name`; `before` is None if there was none."""
        return Control(name, before.revision + 1 if before else 1, body)


class Controls(Protocol):
    """Where the records live by which instances agree; one conditional write per change."""

    def read(self, name: str) -> Control | None:
        """The record under this name, read consistently; None if there is none. Raises Transient or Unreadable."""

    def write(self, control: Control, *, replaces: Control | None) -> bool:
        """Write `control` if the record is still as `replaces` says, absent if that is None.

        False if somebody was faster; raises Transient.
        """


@dataclass(frozen=True, slots=True)
class Health:
    """How the service of `agent` is doing, seen by one process at one moment.

    `in_flight` requests are worked on side by side; `breaker` is 0 closed, 1 half-open, 2 open, 3 paused.
    """

    agent: str
    in_flight: int
    breaker: int


@dataclass(frozen=True, slots=True)
class Called(Health):
    """The same right after a call, which took `took` milliseconds."""

    took: int
    succeeded: bool


class Telemetry(Protocol):
    """Log lines and metrics; it never raises."""

    def record(self, order_id: str, fact: Fact) -> None:
        """Tell one fact of one order."""

    def swept(self, figures: Swept) -> None:
        """Tell what a run of the Supervisor found."""

    def health(self, health: Health) -> None:
        """Tell how an agent's service is doing."""
