"""The ports: what the core needs from outside. Each has an AWS adapter and a twin in memory.

An `order_id` in them is the key of the order's task (`domain/key.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # a function loads only the types of its own ports
    from stepward.domain.convoy.event import StoredEvent
    from stepward.domain.convoy.lane import Lane
    from stepward.domain.convoy.lane_message import LaneMessage
    from stepward.domain.coordination.shared_record import SharedRecord
    from stepward.domain.errors import Unreadable
    from stepward.domain.health import Health, Swept
    from stepward.domain.history import HistoryEntry
    from stepward.domain.messages import Alert, Instruction, Notice, Reply, ReportReject, StepRequest
    from stepward.domain.rejects import Reject
    from stepward.domain.submission import Order, Submission
    from stepward.domain.task.record import Loaded, ProcessState, StepRecord, Task
    from stepward.domain.wish import Wish
    from stepward.domain.workflow.plan import Plan


class TaskStore(Protocol):
    """The state store: one record per task, one conditional write per change."""

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        """Put the order and its task in one atomic operation, once; raises Transient.

        If a wish about the order waits in the task's place, nothing is put, and it is the answer; unless `task` is what
        came of that very wish, the one that it `meets`.
        """

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        """The task, its plan and, if wanted, its order, read consistently; None if there is none.

        Raises Transient, or Corrupt if the record is damaged; NotUnderstood, a Transient, if newer code wrote it:
        NewerPlan, with the task, if that is only its plan.
        """

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Write `task` if the record is still at the revision of `replaces`; False if somebody was faster."""

    def result(self, record: StepRecord) -> Mapping[str, Any]:
        """The large result of a step, read consistently; `save` has written it before the task that refers to it.

        Raises Transient, or Corrupt if it is not there.
        """

    def remember(self, wish: Wish, *, replaces: Wish | None = None) -> Wish | None:
        """Put a wish in the place of the task, if that is empty or still holds the wish that it `replaces`.

        The answer is the wish that is there then, or None for a task.

        Raises Transient; or Rejected if the order came, ended, and had its record deleted.
        """

    def wish(self, order_id: str) -> Wish | None:
        """The wish that waits for this order; None if there is none. Raises Transient or Corrupt."""

    def drop(self, wish: Wish) -> None:
        """Drop a wish that has expired, if it is still in its place; raises Transient."""

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The ids of tasks, and of wishes, of `shard` that wait for something up to `until` (epoch ms), oldest first.

        A hint: it may be stale or doubled, never late.
        """

    def needing_attention(self) -> Iterator[str]:
        """The ids of tasks that wait for an operator, oldest first: a hint, like `due`."""

    def every(self, state: ProcessState | None) -> Iterator[Task | Unreadable]:
        """Every task, or those in `state`, in no order: a scan of the whole store, for people.

        A record that cannot be read comes as its error, and the others follow.
        """


class LaneQueue(Protocol):
    """The queue to the lanes of the orders."""

    def send(self, messages: Sequence[LaneMessage]) -> None:
        """Send each to the lane of its order: in sequence per order, and none past one that could not be sent.

        Raises Transient if anything could not be sent.
        """


class Lanes(Protocol):
    """The store of the lanes: one record per order, a row per event, one conditional write per change."""

    def load(self, order_id: str) -> Lane | None:
        """The lane, read consistently; None if there is none. Raises Transient or Corrupt."""

    def rows(self, order_id: str, first: int, most: int) -> Sequence[StoredEvent]:
        """The first `most` rows from the position `first` on, in sequence; raises Transient or Corrupt."""

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        """Write the lane and its new `rows` at once, if it is still at the revision of `replaces` (0: absent).

        `older` are events that only `replaces` holds: they get rows of their own before. False if somebody was faster;
        raises Transient.
        """

    def due(self, shard: int, until: int) -> Iterator[str]:
        """The ids of orders of `shard` whose lane is due up to `until` (epoch ms): a hint, never late."""

    def needing_attention(self) -> Iterator[str]:
        """The ids of orders whose lane waits for an operator, oldest first: a hint."""


class Ledgers(Protocol):
    """The ledgers that are too large for a message: one object each, with one entry per line."""

    def version(self, key: str) -> str | None:
        """The name of the object's present version; None if there is no such object. Raises Transient."""

    def read(self, key: str, version: str, start: int) -> Iterator[bytes]:
        """The object's bytes from `start` on, in pieces, of exactly that version; raises Transient."""


class Queues(Protocol):
    """The queues between the parts. Each method raises Transient if anything could not be sent."""

    def to_scheduler(self, messages: Sequence[Instruction]) -> None:
        """Send to the Scheduler."""

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""

    def queued(self, agent: str) -> int | None:
        """How many requests wait for an agent; None if it has no queue. Raises Transient."""

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once; raises Transient."""

    @property
    def reachable(self) -> Collection[str]:
        """The agents that have a queue, as far as is known; a request to another one is not sent."""


class Alerts(Protocol):
    """Alerts to operators."""

    def send(self, alert: Alert) -> bool:
        """Send one alert; False if it stays due. Raises Transient if it could not be sent, HalfAlerted if in part."""

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send all of them in one message; raises as `send` does."""

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Send all of them to machines only, since people have them; raises Transient."""


class Notices(Protocol):
    """Notices to submitters."""

    def post(self, notice: Notice | ReportReject) -> None:
        """Post a notice to the submitter's queue; one that can never be posted is counted, and dropped.

        Raises Transient if the queue is busy or cannot be reached.
        """


class Rejects(Protocol):
    """The store of rejects."""

    def keep(self, reject: Reject) -> None:
        """Keep it; raises Transient if it could not be kept."""

    def newest(self, limit: int) -> Sequence[Reject]:
        """At most `limit` rejects, newest first; those with a large body have `kept_at` in its place."""

    def whole(self, reject: Reject) -> Reject:
        """The reject with its body; raises Transient, or Corrupt if the body is gone."""


class SharedRecords(Protocol):
    """The store of shared records; one conditional write per change."""

    def read(self, name: str) -> SharedRecord | None:
        """The record under this name, read consistently; None if there is none. Raises Transient or Corrupt."""

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        """Write the record if it is still at the revision of `replaces`; absent if that is None.

        False if somebody was faster; raises Transient.
        """


class Telemetry(Protocol):
    """Log lines and metrics; it never raises."""

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Log and count one history entry of an order."""

    def swept(self, figures: Swept) -> None:
        """Report what a run of the Supervisor found."""

    def health(self, health: Health) -> None:
        """Report the health of an agent's service."""
