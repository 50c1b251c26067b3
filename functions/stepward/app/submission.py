"""Submission: an order message becomes an order and its task, in one atomic operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from stepward.app.optimistic import Race
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.key import Keys, TaskKey, check_customer
from stepward.domain.messages import Callback, Cancel, ReportReject, SignalGiven, Start
from stepward.domain.messages.reply_queues import Allowed, check
from stepward.domain.submission import Order, Submission
from stepward.domain.task.decide import decide
from stepward.domain.task.record import HISTORY_LIMIT, Loaded, Task, new_task
from stepward.domain.timing import Timing
from stepward.domain.wish import Early, Wish, noted
from stepward.domain.workflow.plan import Plan
from stepward.ports import Queues, TaskStore, Telemetry
from stepward.wire import strict_json
from stepward.wire.envelope import Ignored
from stepward.wire.order import Accepted, Schemas, accept, check_signal, sender_of
from stepward.wire.source import Source

_HISTORY = {Submission.ACCEPTED: HistoryKind.SUBMITTED, Submission.DUPLICATE: HistoryKind.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Met:
    """A new task, what happened to it before it was put, and what it did not take of all that came before it."""

    task: Task
    history: tuple[HistoryEntry, ...] = ()
    refused: tuple[Early, ...] = ()


@dataclass(frozen=True, slots=True)
class Submit:
    """Accepts order messages of `schemas` and freezes a plan with each; submitters may be notified on `reply_queues`.

    `keys` makes the keys of their tasks, `sources` read the messages of other systems. `plans` are by the type of the
    message, as `schemas` are. `signals` knows the classes of the signals that each task may be given, by name.
    """

    store: TaskStore
    queues: Queues
    telemetry: Telemetry
    schemas: Schemas
    keys: Keys
    plans: Mapping[str, Plan]
    timing: Timing
    now: Callable[[], int]
    signals: Callable[[str], Mapping[str, type[Any]]]
    reply_queues: Allowed = field(default_factory=Allowed)
    sources: Sequence[Source] = ()
    begin: Callable[[Loaded], bool] = lambda _: False
    """Claims the first steps of an order that was put; False if the Scheduler has to."""

    def handle(self, text: str) -> None:
        """Do what an order message says; raises Rejected, which its submitter is told, or Transient."""
        try:
            self._handle(text)
        except Rejected as error:
            self._tell(text, error)
            raise

    def _handle(self, text: str) -> None:
        wanted = accept(text, self.schemas, self.keys, self.sources)
        match wanted:
            case Ignored():
                self.telemetry.record("", HistoryEntry(self.now(), HistoryKind.IGNORED, note=wanted.what))
            case SignalGiven():
                check_signal(wanted, self.signals(wanted.order_id).get(wanted.step))
                self.queues.to_scheduler([wanted])
            case Cancel() | Callback():
                self.queues.to_scheduler([wanted])
            case Accepted():
                self.accept(wanted)

    def accept(self, accepted: Accepted) -> None:
        """Submit an order, once; raises Rejected or Transient.

        The Scheduler gets a Start unless the first steps are claimed here. It gets one for a duplicate, too: whoever
        put the order may have died since, and a second Start is harmless.
        """
        now, order = self.now(), accepted.order
        plan = self.plans[accepted.type]
        outcome, met = self._submit(order, self._task(accepted, plan, now), plan)
        if outcome is Submission.CONFLICT:
            self.telemetry.record(order.order_id, HistoryEntry(now, HistoryKind.CONFLICT))
            order_id = TaskKey.read(order.order_id).order_id
            raise Rejected("orderId", f"{order_id!r} was submitted before with other content")
        for entry in (HistoryEntry(now, _HISTORY[outcome]), *met.history):
            self.telemetry.record(order.order_id, entry)
        if outcome is Submission.ACCEPTED and not met.refused:
            content: Any = strict_json.parse(order.body)
            if self.begin(Loaded(met.task, plan, content)):
                return
        self.queues.to_scheduler([Start(order.order_id), *met.refused])

    def _submit(self, order: Order, task: Task, plan: Plan) -> tuple[Submission, Met]:
        """Put the order with its task, or with what came first and was kept makes of that; what happened.

        One write takes the place of what was kept, so a death loses neither.
        """
        race, met = Race(order.order_id), Met(task)
        wish: Wish | None = None
        while isinstance(outcome := self.store.submit(order, met.task, plan, meets=wish), Wish):
            wish = outcome
            met = self._met(task, plan, wish, order)
            race.lost()
        return outcome, met if outcome is Submission.ACCEPTED else Met(task)

    def _met(self, task: Task, plan: Plan, wish: Wish, order: Order) -> Met:
        """The task as the wish wants it; the Scheduler tells what the order does not take, as of one that comes now.

        The task notes that, too: the write takes the wish away, and what tells of it may be lost.
        """
        now, content, met = task.created_at, strict_json.parse(order.body), Met(task)
        for event in (kept.event for kept in wish.kept):
            try:
                check_customer(event.customer_id, content.get("customerId") if isinstance(content, dict) else None)
                made = decide(met.task, plan, event, now=now, by=event.who, timing=self.timing, order=None)
                why = made.refusal.text if made.refusal else ""
            except Rejected as error:
                why = error.reason
            if why:
                told = noted(event, now, f"{event.why}, which the order does not take: {why}")
                history = (*met.task.history, told)[-HISTORY_LIMIT:]
                met = replace(met, task=replace(met.task, history=history), refused=(*met.refused, event))
            else:
                met = Met(replace(made.task, revision=task.revision + 1), (*met.history, *made.history), met.refused)
        return met

    def _tell(self, text: str, error: Rejected) -> None:
        """Have the Scheduler notify whoever sent a message that is rejected, by what that message itself says."""
        with suppress(Rejected):
            if sender := sender_of(text, self.keys):
                url, name = check(sender.reply_to, self.reply_queues).url, sha256(text.encode()).hexdigest()
                told = ReportReject(sender.order_id, sender.correlation_id or "", url, name, str(error), self.now())
                self.queues.to_scheduler([told])

    def _task(self, accepted: Accepted, plan: Plan, now: int) -> Task:
        """The task of the order, with its submitter's reply queue; raises Rejected if that is not allowed."""
        reply_to = check(accepted.reply_to, self.reply_queues).url if accepted.reply_to else ""
        return new_task(
            accepted.order.order_id,
            plan,
            now,
            self.timing,
            reply_to=reply_to,
            correlation_id=accepted.correlation_id,
            complete_by=accepted.complete_by,
        )
