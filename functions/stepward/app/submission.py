"""Submission: an order message becomes an order and its task, in one atomic operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import Keys, TaskKey
from stepward.domain.messages import Cancel, Start
from stepward.domain.reply_queues import Allowed, check
from stepward.domain.submission import Submission
from stepward.domain.task.record import Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.workflow.plan import Plan
from stepward.ports import Queues, TaskStore, Telemetry
from stepward.wire.envelope import Ignored
from stepward.wire.order import Accepted, OrderMessage, accept

_HISTORY = {Submission.ACCEPTED: HistoryKind.SUBMITTED, Submission.DUPLICATE: HistoryKind.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Submit:
    """Accepts order messages of `schema` and freezes `plan` with each; submitters may be notified on `reply_queues`.

    `keys` makes the keys of their tasks.
    """

    store: TaskStore
    queues: Queues
    telemetry: Telemetry
    schema: type[OrderMessage]
    keys: Keys
    plan: Plan
    timing: Timing
    now: Callable[[], int]
    reply_queues: Allowed = field(default_factory=Allowed)

    def handle(self, text: str) -> None:
        """Do what an order message says; raises Rejected or Transient."""
        wanted = accept(text, self.schema, self.keys)
        match wanted:
            case Ignored():
                self.telemetry.record("", HistoryEntry(self.now(), HistoryKind.IGNORED, note=wanted.what))
            case Cancel():
                self.queues.to_scheduler([wanted])
            case Accepted():
                self.accept(wanted)

    def accept(self, accepted: Accepted) -> None:
        """Submit an order, once; raises Rejected or Transient.

        The Scheduler gets a Start for a duplicate, too: the first one may be lost, and a second is harmless.
        """
        now, order = self.now(), accepted.order
        outcome = self.store.submit(order, self._task(accepted, now), self.plan)
        if outcome is Submission.CONFLICT:
            self.telemetry.record(order.order_id, HistoryEntry(now, HistoryKind.CONFLICT))
            order_id = TaskKey.read(order.order_id).order_id
            raise Rejected("orderId", f"{order_id!r} was submitted before with other content")
        self.telemetry.record(order.order_id, HistoryEntry(now, _HISTORY[outcome]))
        self.queues.to_scheduler([Start(order.order_id)])

    def _task(self, accepted: Accepted, now: int) -> Task:
        """The task of the order, with its submitter's reply queue; raises Rejected if that is not allowed."""
        reply_to = check(accepted.reply_to, self.reply_queues).url if accepted.reply_to else ""
        return new_task(
            accepted.order.order_id,
            self.plan,
            now,
            self.timing,
            reply_to=reply_to,
            correlation_id=accepted.correlation_id,
            complete_by=accepted.complete_by,
        )
