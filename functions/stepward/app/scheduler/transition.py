"""The one write path of a task: read, decide, write if nobody was faster, then send."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from stepward.app.optimistic import Race
from stepward.app.scheduler.large_results import with_large_results
from stepward.app.scheduler.together import decide_together
from stepward.app.scheduler.wishes import Wishes
from stepward.domain.coordination.outlook import DeadlineCheck, Outlook
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryEntry
from stepward.domain.key import check_customer
from stepward.domain.messages import (
    Answered,
    Cancel,
    ItemRequest,
    Message,
    Notice,
    OfChild,
    Reply,
    Report,
    Retry,
    SignalGiven,
    Start,
    StepRequest,
    TaskAlert,
)
from stepward.domain.replace import replace
from stepward.domain.task.change import Decision
from stepward.domain.task.claim import in_question
from stepward.domain.task.decide import AlertSent, Event, decide
from stepward.domain.task.lacking import spared
from stepward.domain.task.record import Loaded, NewerPlan, Task
from stepward.domain.timing import Timing
from stepward.ports import Alerts, Notices, Queues, TaskStore, Telemetry

if TYPE_CHECKING:  # a function without such steps does not load it
    from stepward.app.scheduler.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Outcome:
    """What follows from one event that was written, and what was written."""

    messages: Sequence[Message]
    history: tuple[HistoryEntry, ...]
    written: Loaded | None = None


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
        (outcome,) = self.write(order_id, [event], Race(order_id))
        return self.finish(order_id, outcome)

    def write(self, order_id: str, events: Sequence[Event], race: Race) -> Sequence[Outcome]:
        """Write, at once, what `events` make of the task one after the other; what follows from each of them.

        Raises Transient, or whatever one of them meets: then nothing is written of any.
        """
        # Only a claim needs the order.
        claims = self.claims and not all(isinstance(event, DeadlineCheck | AlertSent) for event in events)
        while True:
            if loaded := self._load(order_id, events, race, with_order=claims):
                task, decided = decide_together(loaded.task, events, partial(self.decision, loaded))
                if task is loaded.task or self.store.save(task, replaces=loaded.task):
                    after = replace(loaded, task=task)
                    return [Outcome(self._complete(each.messages, after), each.history, after) for each in decided]
            elif (outcomes := self._without_task(order_id, events)) is not None:
                return outcomes
            race.lost()

    def finish(self, order_id: str, outcome: Outcome) -> tuple[HistoryEntry, ...]:
        """Log and send what follows from one event, once it is written; the history. Raises Transient."""
        for entry in outcome.history:
            self.telemetry.record(order_id, entry)
        messages, written = outcome.messages, outcome.written
        if written is not None:
            messages = with_large_results(messages, written.task, written.plan, self.store)
        self._send(order_id, messages)
        return outcome.history

    def begin(self, placed: Loaded) -> bool:
        """Claim the first steps of an order that was put just now, and ask their agents; whether that is done.

        If not, the Scheduler has to: only it posts notices, makes tokens, looks at agents, and begins waits and
        children. That is so after a write that failed, too, for it may have been done: a Start finds what it claimed.
        """
        order_id = placed.task.order_id
        found = self.decision(placed, placed.task, Start(order_id))
        if not _asks_agents_only(found, placed):
            return False
        try:
            won = self.store.save(found.task, replaces=placed.task)
        except Transient:
            won = False
        if won:
            after = replace(placed, task=found.task)
            self.finish(order_id, Outcome(self._complete(found.messages, after), found.history, after))
        return won

    def _without_task(self, order_id: str, events: Sequence[Event]) -> Sequence[Outcome] | None:
        """What each event means to an order that is not there; None if it is there by now."""
        outcomes = []
        for event in events:
            if (early := Wishes(self.store, self.now).take(order_id, event)) is None:
                return None
            outcomes.append(Outcome((), early))
        return outcomes

    def _load(self, order_id: str, events: Sequence[Event], race: Race, *, with_order: bool) -> Loaded | None:
        """The task with its plan; if only newer code knows that, a reply spares its attempt before it goes back."""
        while True:
            try:
                return self.store.load(order_id, with_order=with_order)
            except NewerPlan as newer:
                if all(self.spare(newer, event) for event in events if isinstance(event, Reply | Answered)):
                    raise
            race.lost()

    def spare(self, newer: NewerPlan, reply: Reply | Answered) -> bool:
        """Note that the attempt of a reply is spared; whether nobody was faster."""
        decision = spared(newer, reply, now=self.now(), by=self.instance, timing=self.timing)
        if decision.task is not newer.task and not self.store.save(decision.task, replaces=newer.task):
            return False
        for entry in decision.history:
            self.telemetry.record(newer.task.order_id, entry)
        return True

    def decision(self, loaded: Loaded, task: Task, event: Event) -> Decision:
        """Decide; if that claims a step with a fallback, look at its agents and decide again."""
        if isinstance(event, Cancel | SignalGiven):  # an order never changes its customer, so nobody can be faster
            check_customer(event.customer_id, loaded.order.get("customerId"))
        decided = partial(
            decide,
            task,
            loaded.plan,
            event,
            now=self.now(),
            by=self.instance,
            timing=self.timing,
            order=loaded.order if self.claims else None,
        )
        here = Outlook(absent=frozenset(loaded.plan.agents).difference(self.queues.reachable))
        found = decided(outlook=here)
        if self.look is None or not (agents := in_question(found, task, loaded.plan)):
            return found
        return decided(outlook=replace(self.look(agents), absent=here.absent))

    def _complete(self, messages: Sequence[Message], loaded: Loaded) -> tuple[Message, ...]:
        """The messages; each request with the order, and with a token if its step may be answered later."""
        order = loaded.order
        priority, tenant = order.get("priority", "normal"), order.get("customerId") or ""
        whole = tuple(
            replace(each, order=order, priority=priority, tenant=tenant, callback=self._callback(each, loaded))
            if isinstance(each, StepRequest)
            else each
            for each in messages
        )
        if not any(isinstance(each, ItemRequest) for each in whole):
            return whole
        from stepward.domain.steps.each import with_item  # few orders have any

        return tuple(with_item(each, loaded) if isinstance(each, ItemRequest) else each for each in whole)

    def _callback(self, request: StepRequest, loaded: Loaded) -> str:
        if self.tokens is None or not loaded.plan.by_name[request.step].answer_within:
            return ""
        return self.tokens.issue(request, loaded.task.created_at)

    def _send(self, order_id: str, messages: Sequence[Message]) -> None:
        """Send the messages of a change; an alert that is out is confirmed, so that it is not sent again.

        Nobody looks at an order in Error after that, so who cannot notify its submitter asks for it before.
        """
        notices = [message for message in messages if isinstance(message, Notice)]
        reports = [Report(order_id)] if notices and self.notices is None else []
        self.queues.to_agents([message for message in messages if isinstance(message, StepRequest)])
        self.queues.to_scheduler([*(each for each in messages if isinstance(each, Retry | OfChild)), *reports])
        for alert in (message for message in messages if isinstance(message, TaskAlert)):
            if self.alerts.send(alert):
                self.apply(order_id, AlertSent.of(alert))
        if self.notices is not None:  # last of all: nothing of the order may wait for that
            for notice in notices:
                self.notices.post(notice)


def _asks_agents_only(found: Decision, before: Loaded) -> bool:
    """Whether nothing follows but requests, to agents that nobody has to look at, for answers that come at once.

    An agent that has no queue here may have one where the Scheduler is.
    """
    plan = before.plan
    if any(record.lacks for record in found.task.steps.values()):
        return False
    plain = all(isinstance(each, StepRequest) and not plan.by_name[each.step].answer_within for each in found.messages)
    return plain and bool(found.messages) and not in_question(found, before.task, plan)
