"""The twins in memory that report what passes through them to a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Alert, Notice, Reply, ReportReject, StepRequest
from stepward.domain.steps.overdue import AT_FAULT, IT_RAISED
from stepward.domain.submission import Order, Submission
from stepward.domain.task.record import Task
from stepward.domain.wish import Wish
from stepward.domain.workflow.plan import Plan
from stepward.testing.batches import changes_of
from stepward.testing.faults.broken import ENDLESS, Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.judge import Judge
from stepward.testing.faults.record import Write
from stepward.testing.memory.queues import MemoryAlerts, MemoryQueues
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.testing.memory.telemetry import MemoryTelemetry

MOST_AT_FAULT = 10
"""How often one step may meet a fault of the code or of a setting before a test is told that it will not end."""


@dataclass(slots=True)
class JudgedTasks(MemoryTaskStore):
    """The state store. Set `judge` before the first write; failures may be uncounted once `is_lenient` is true."""

    judge: Judge | None = None
    is_lenient: Callable[[], bool] = lambda: False

    def submit(self, order: Order, task: Task, plan: Plan, *, meets: Wish | None = None) -> Submission | Wish:
        """Store order and task, or neither; see the port."""
        outcome = MemoryTaskStore.submit(self, order, task, plan, meets=meets)
        if outcome is Submission.ACCEPTED and meets and task.revision > 1 and self.judge:
            self.judge.written(Write(replace(task, revision=1), task, self.judge.gate.here.cause))
        return outcome

    def save(self, task: Task, *, replaces: Task) -> bool:
        """Replace the task, and have the judge check the change; see the port."""
        before = self.tasks.get(task.order_id)
        saved = MemoryTaskStore.save(self, task, replaces=replaces)
        if saved and before is not None and before is not task and self.judge:
            self.judge.uncounted = self.judge.uncounted or self.is_lenient()
            for write in changes_of(self.judge.gate.here, before, task):
                self.judge.written(write)
        return saved


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQueues(MemoryQueues):
    """The queues. Once a Supervisor sees a backlog, failures may be uncounted."""

    judge: Judge

    def to_agents(self, requests: Sequence[StepRequest]) -> None:
        """Send each request to the queue of its agent."""
        for request in requests:
            self.judge.asked(request)
        MemoryQueues.to_agents(self, requests)
        for request in requests:
            self.judge.sent(request)

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send to the queue of responses."""
        for reply in replies:
            self.judge.replied(reply)
        MemoryQueues.reply(self, replies)

    def backlogged(self) -> frozenset[str]:
        """The agents whose queue holds more requests than they can take at once."""
        found = MemoryQueues.backlogged(self)
        self.judge.uncounted = self.judge.uncounted or bool(found)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAlerts(MemoryAlerts):
    """The alerts to operators; `hear` hears of each."""

    judge: Judge
    hear: Callable[[Alert], object] = lambda _: None

    def send(self, alert: Alert) -> bool:
        """Record it; see the port."""
        self._tell(alert)
        return MemoryAlerts.send(self, alert)

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Record them as one message; see the port."""
        for alert in alerts:
            self._tell(alert)
        MemoryAlerts.summarise(self, alerts)

    def _tell(self, alert: Alert) -> None:
        self.judge.alerted(alert)
        self.hear(alert)


@dataclass(slots=True, kw_only=True)
class JudgedSharedRecords(MemorySharedRecords):
    """The shared records."""

    judge: Judge

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        """Write it if nobody was faster; see the port."""
        before = self.kept.get(shared_record.name)
        saved = MemorySharedRecords.write(self, shared_record, replaces=replaces)
        if saved and before is not shared_record and shared_record.revision != (before.revision if before else 0) + 1:
            about, name = self.judge.gate.here.about, shared_record.name
            raise Broken("I2", about, f"{name}: {before} was replaced by {shared_record}")
        return saved


@dataclass(frozen=True, slots=True)
class JudgedNotices:
    """The notices to submitters; `posted` holds those of orders, `rejected` those of messages that were rejected."""

    judge: Judge
    posted: list[Notice] = field(default_factory=list)
    rejected: list[ReportReject] = field(default_factory=list)

    def post(self, notice: Notice | ReportReject) -> None:
        """Record it; see the port."""
        if isinstance(notice, ReportReject):
            self.rejected.append(notice)
            return
        self.judge.heard(notice)
        self.posted.append(notice)


@dataclass(slots=True, repr=False)
class NotedTelemetry(MemoryTelemetry):
    """Logs and metrics; `told` holds each entry once, by order, kind, step and attempt."""

    diary: Diary = field(kw_only=True)
    told: set[tuple[str, HistoryKind, str, int]] = field(default_factory=set, kw_only=True)
    at_fault: Counter[tuple[str, str]] = field(default_factory=Counter, kw_only=True)
    """How often a step of an order met a fault of the code or of a setting, which is no failure of the order."""
    raised: dict[tuple[str, str], str] = field(default_factory=dict, kw_only=True)
    must_end: bool = field(default=True, kw_only=True)

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Record one entry, in the timeline too; see the port."""
        attempt = f" at attempt {entry.attempt}" if entry.attempt else ""
        words = f"{entry.kind}: {entry.step}{attempt}" if entry.step else str(entry.kind)
        self.told.add((order_id, entry.kind, entry.step, entry.attempt))
        self.diary.note(order_id, f"{words} ({entry.note})" if entry.note else words)
        MemoryTelemetry.record(self, order_id, entry)
        if entry.kind is HistoryKind.CALL_FAILED:
            self.raised[order_id, entry.step] = entry.note
        if self.must_end and entry.kind is HistoryKind.UNCOUNTED and entry.note.endswith(AT_FAULT):
            self._meets(order_id, entry)

    def begins(self, *, must_end: bool) -> None:
        """A run begins that has to end by itself, or one that ends at its limit."""
        self.at_fault.clear()
        self.must_end = must_end

    def _meets(self, order_id: str, entry: HistoryEntry) -> None:
        """Raise Broken if it goes on and on: a deployment waits for better code or settings, and a test has neither."""
        self.at_fault[order_id, entry.step] += 1
        if self.at_fault[order_id, entry.step] >= MOST_AT_FAULT:
            reported = entry.note.removeprefix(IT_RAISED).removesuffix(f"; {AT_FAULT}").strip()
            told = entry.note.startswith(IT_RAISED) or (order_id, entry.step) not in self.raised
            raised = reported if told else self.raised[order_id, entry.step]
            raise Broken(
                ENDLESS,
                order_id,
                f"{entry.step} of {order_id} was attempted {entry.attempt} times, and would be for ever: {raised}. "
                "Its operation runs as it is: say what its service answers, engine.service(OPERATION).returns({...}), "
                "or engine.stand_in() for all of them, or set what it lacks, monkeypatch.setenv(NAME, VALUE)",
            )
