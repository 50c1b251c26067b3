"""The one write path of a task: read, decide, write if nobody was faster, then send."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from stepward.app.optimistic import Race
from stepward.app.scheduler.wishes import Wishes
from stepward.domain.coordination.outlook import Outlook
from stepward.domain.history import HistoryEntry
from stepward.domain.key import check_customer
from stepward.domain.messages import (
    Cancel,
    Message,
    Notice,
    OfChild,
    Report,
    Retry,
    SignalGiven,
    StepRequest,
    TaskAlert,
)
from stepward.domain.task.change import Decision
from stepward.domain.task.claim import in_question
from stepward.domain.task.deadlines import DeadlineCheck
from stepward.domain.task.decide import AlertSent, Event, decide
from stepward.domain.task.record import Loaded
from stepward.domain.timing import Timing
from stepward.ports import Alerts, Notices, Queues, TaskStore, Telemetry

if TYPE_CHECKING:  # a function without such steps does not load it
    from stepward.app.scheduler.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Transition:
    """Applies events to tasks on behalf of `instance`, the name that goes into LockedBy.

    Without `notices` it has the Scheduler notify submitters.
    """

    store: TaskStore
    queues: Queues
    alerts: Alerts
    telemetry: Telemetry
    timing: Timing
    instance: str
    now: Callable[[], int]
    notices: Notices | None = None
    claims: bool = True
    """Whether it claims ready steps; otherwise it has the Scheduler do it."""
    look: Callable[[Collection[str]], Outlook] | None = None
    """What it looks at agents with before it claims a step that has a fallback."""
    tokens: Tokens | None = None
    """Makes the tokens of steps that are answered later; only the Scheduler has their key."""

    def apply(self, order_id: str, event: Event) -> tuple[HistoryEntry, ...]:
        """Write what `event` makes of the task, then send what follows; the history. Raises Rejected or Transient.

        A death between the two loses nothing: every state that waits has a due time, and a redelivered event finds
        what its first delivery wrote, and sends again.
        """
        messages, history = self._write(order_id, event)
        for entry in history:
            self.telemetry.record(order_id, entry)
        self._send(order_id, messages)
        return history

    def _write(self, order_id: str, event: Event) -> tuple[Sequence[Message], tuple[HistoryEntry, ...]]:
        # Only a claim needs the order.
        claims = self.claims and not isinstance(event, DeadlineCheck | AlertSent)
        race = Race(order_id)
        while True:
            if loaded := self.store.load(order_id, with_order=claims):
                if isinstance(
                    event, Cancel | SignalGiven
                ):  # an order never changes its customer, so nobody can be faster
                    check_customer(event.customer_id, loaded.order.get("customerId"))
                decision = self._decide(loaded, event)
                if decision.task is loaded.task or self.store.save(decision.task, replaces=loaded.task):
                    return self._complete(decision.messages, loaded), decision.history
            elif (early := Wishes(self.store, self.now).take(order_id, event)) is not None:
                return (), early
            race.lost()

    def _decide(self, loaded: Loaded, event: Event) -> Decision:
        """Decide; if that claims a step with a fallback, look at its agents and decide again."""
        decided = partial(
            decide,
            loaded.task,
            loaded.plan,
            event,
            now=self.now(),
            by=self.instance,
            timing=self.timing,
            order=loaded.order if self.claims else None,
        )
        here = Outlook(absent=frozenset(loaded.plan.agents).difference(self.queues.reachable))
        decision = decided(outlook=here)
        if self.look is None or not (agents := in_question(decision, loaded.task, loaded.plan)):
            return decision
        return decided(outlook=replace(self.look(agents), absent=here.absent))

    def _complete(self, messages: Sequence[Message], loaded: Loaded) -> tuple[Message, ...]:
        """The messages with the order, and with the tokens of steps that are answered later."""
        full = _with_order(messages, loaded.order)
        if self.tokens is None or not any(step.answer_within for step in loaded.plan.steps):
            return full
        answered = {step.name for step in loaded.plan.steps if step.answer_within}
        return tuple(
            replace(each, callback=self.tokens.issue(each, loaded.task.created_at))
            if isinstance(each, StepRequest) and each.step in answered
            else each
            for each in full
        )

    def _send(self, order_id: str, messages: Sequence[Message]) -> None:
        """Send the messages of a change; an alert that is out is confirmed, so that it is not sent again."""
        self.queues.to_agents([message for message in messages if isinstance(message, StepRequest)])
        self.queues.to_scheduler([message for message in messages if isinstance(message, Retry | OfChild)])
        for alert in (message for message in messages if isinstance(message, TaskAlert)):
            if self.alerts.send(alert):
                self.apply(order_id, AlertSent(alert.step, alert.attempt))
        self._notify(order_id, [message for message in messages if isinstance(message, Notice)])

    def _notify(self, order_id: str, notices: Sequence[Notice]) -> None:
        """Notify the submitter, last of all: nothing of the order may wait for that."""
        if self.notices is None:
            self.queues.to_scheduler([Report(order_id)] if notices else [])
            return
        for notice in notices:
            self.notices.post(notice)


def _with_order(messages: Sequence[Message], order: Mapping[str, Any]) -> tuple[Message, ...]:
    priority, tenant = order.get("priority", "normal"), order.get("customerId") or ""
    return tuple(
        replace(message, order=order, priority=priority, tenant=tenant) if isinstance(message, StepRequest) else message
        for message in messages
    )
