"""The twins in memory that keep a record of what passes through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stepward.domain.history import HistoryEntry
from stepward.domain.messages import Alert, Notice, StepRequest, ToScheduler
from stepward.domain.task.record import Task
from stepward.testing.faults import audit
from stepward.testing.faults.record import Write
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry

Note = Callable[[str, str], None]
"""Keeps a line about an order."""


@dataclass(slots=True)
class Writes:
    """Every change of every task, in order.

    `freed` are the attempts, as (order, step, attempt), that a Supervisor has ended, `claims` the tokens of all.
    """

    log: list[Write] = field(default_factory=list)
    freed: set[tuple[str, str, int]] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)

    def note(self, write: Write) -> None:
        """Keep one more."""
        self.log.append(write)
        self.claims |= {record.token for record in write.after.steps.values() if record.token}
        self.freed |= {(write.after.order_id, *ended) for ended in audit.freed(write)}


def nothing(_order_id: str, _what: str) -> None:
    """Keep no line."""


@dataclass(slots=True)
class WrittenTasks(MemoryTaskStore):
    """The state store; `cause` is the message that is being handled."""

    writes: Writes = field(default_factory=Writes)
    cause: ToScheduler | None = None

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Replace the task, and keep the change; see the port."""
        before = self.tasks.get(task.order_id)
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        if saved and before is not None:
            self.writes.note(Write(before, task, self.cause))
        return saved


@dataclass(frozen=True, slots=True)
class WatchedQueues(MemoryQueues):
    """The queues; `too_early` are requests that were sent before their claim, one of `claims`, was written.

    `backlogs` holds the agents that a Supervisor was told of.
    """

    claims: set[str] = field(default_factory=set)
    too_early: list[StepRequest] = field(default_factory=list)
    backlogs: set[str] = field(default_factory=set)

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        self.too_early.extend(request for request in requests if request.token not in self.claims)
        MemoryQueues.to_agents(self, requests)

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once."""
        found = MemoryQueues.backlogged(self)
        self.backlogs.update(found)
        return found


@dataclass(frozen=True, slots=True)
class NotedAlerts(MemoryAlerts):
    """The way to a person."""

    note: Note = nothing

    def tell(self, alert: Alert) -> bool:
        """Keep it."""
        self.note(alert.order_id, f"an operator is told: {alert.reason}")
        return MemoryAlerts.tell(self, alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Keep them as one."""
        for alert in alerts:
            self.note(alert.order_id, f"an operator is told, in a summary: {alert.reason}")
        MemoryAlerts.summarise(self, alerts)


@dataclass(frozen=True, slots=True)
class NotedNotices:
    """The way to a submitter; `posted` is what it was told."""

    note: Note = nothing
    posted: list[Notice] = field(default_factory=list)

    def post(self, notice: Notice) -> None:
        """Keep it; see the port."""
        self.note(notice.order_id, f"the submitter is told: {notice.status} {notice.step}".rstrip())
        self.posted.append(notice)


@dataclass(slots=True)
class NotedTelemetry(MemoryTelemetry):
    """Logs and metrics."""

    note: Note = nothing

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Keep one fact; see the port."""
        attempt = f" at attempt {entry.attempt}" if entry.attempt else ""
        words = f"{entry.kind}: {entry.step}{attempt}" if entry.step else str(entry.kind)
        self.note(order_id, " ".join(part for part in (words, f"({entry.note})" if entry.note else "") if part))
        MemoryTelemetry.record(self, order_id, entry)
