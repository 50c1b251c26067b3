"""Submission: an order message becomes an order and its task, in one atomic operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.errors import Rejected
from stepward.domain.facts import Fact, FactKind
from stepward.domain.messages import Start
from stepward.domain.plan import Plan
from stepward.domain.task import new_task
from stepward.domain.timing import Timing
from stepward.ports import Queues, Submission, TaskStore, Telemetry
from stepward.wire.envelope import Ignored
from stepward.wire.order import OrderMessage, accept

_FACTS = {Submission.ACCEPTED: FactKind.SUBMITTED, Submission.DUPLICATE: FactKind.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Submit:
    """Accepts order messages of `schema` and freezes `plan` with each."""

    store: TaskStore
    queues: Queues
    telemetry: Telemetry
    schema: type[OrderMessage]
    plan: Plan
    timing: Timing
    now: Callable[[], int]

    def handle(self, text: str) -> None:
        """Submit the order in `text`, once; raises Rejected or Transient.

        A duplicate is told to the Scheduler again: the first telling may have been lost, and a second is harmless.
        """
        order = accept(text, self.schema)
        now = self.now()
        if isinstance(order, Ignored):
            self.telemetry.record("", Fact(now, FactKind.IGNORED, note=order.what))
            return
        outcome = self.store.submit(order, new_task(order.order_id, self.plan, now, self.timing), self.plan)
        if outcome is Submission.CONFLICT:
            self.telemetry.record(order.order_id, Fact(now, FactKind.CONFLICT))
            raise Rejected("orderId", f"{order.order_id!r} was submitted before with other content")
        self.telemetry.record(order.order_id, Fact(now, _FACTS[outcome]))
        self.queues.to_scheduler([Start(order.order_id)])
