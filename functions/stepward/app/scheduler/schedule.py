"""The Scheduler: each message changes the task that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from stepward.app.optimistic import Patience
from stepward.app.scheduler.audit_log import AuditLog
from stepward.app.scheduler.shared_write import SharedWrite
from stepward.app.scheduler.transition import Transition
from stepward.domain.errors import Forged, NotUnderstood, Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import (
    SUBMITTERS,
    Answered,
    Callback,
    ChildSubmit,
    ChildUndo,
    Command,
    ReportReject,
    SignalGiven,
    ToScheduler,
)
from stepward.domain.task.decide import Event
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import forward_name
from stepward.wire.messages import decode_for_scheduler, unread
from stepward.wire.order import check_signal

ENDLESS = 1_000_000


@dataclass(frozen=True, slots=True)
class Schedule:
    """Runs the steps of every task in their order; the workflow is data. `patience` is for writes that lose a race."""

    transition: Transition
    audit_log: AuditLog
    patience: Patience

    def handle(self, text: str) -> None:
        """Apply the message in `text`; raises Rejected or Transient."""
        for act in self.take([text], lambda: ENDLESS):
            act()

    def take(self, texts: Sequence[str], remaining: Callable[[], int]) -> Sequence[Callable[[], None]]:
        """What applies each of these messages, in their order, with `remaining` milliseconds to the end of the run.

        Each raises Rejected or Transient for its own message. The first one of a task has all of that task written at
        once, and each sends what follows from its own message.
        """
        writes: dict[str, SharedWrite] = {}
        acts: list[Callable[[], None]] = []
        for text in texts:
            try:
                message = decode_for_scheduler(text)
                order_id, event = self._named(message)
            except NotUnderstood as error:
                acts.append(partial(self._spare, text, error))
                continue
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one message, it alone comes back
                acts.append(partial(self._fail, error))
                continue
            if isinstance(event, ReportReject):
                acts.append(partial(self._tell, event))
                continue
            if isinstance(event, ChildSubmit | ChildUndo):
                acts.append(partial(self._child, event))
                continue
            if (write := writes.get(order_id)) is None:
                race = partial(self.patience.race, order_id, remaining)
                write = writes[order_id] = SharedWrite(self.transition, order_id, race)
            acts.append(partial(self._apply, event, write, write.add(event)))
        return acts

    def _tell(self, message: ReportReject) -> None:
        if self.transition.notices is not None:
            self.transition.notices.post(message)

    def _child(self, message: ChildSubmit | ChildUndo) -> None:
        from stepward.app.scheduler.children import Children  # few orders have any

        Children(self.transition).handle(message)

    def _apply(self, event: Event, write: SharedWrite, position: int) -> None:
        """Apply one message.

        The outcome of a command is in the audit log before its message is acknowledged. If the process dies between the
        two, the next delivery finds what the order remembers of the command.
        """
        order_id = write.order_id
        history = self.transition.finish(order_id, write.outcome(position))
        if isinstance(event, Command) and not (isinstance(event, SignalGiven) and event.door == SUBMITTERS):
            self.audit_log.keep(order_id, event, history, lambda: self._task(order_id))

    def _task(self, order_id: str) -> Task | None:
        loaded = self.transition.store.load(order_id, with_order=False)
        return loaded.task if loaded else None

    def _named(self, message: ToScheduler) -> tuple[str, Event | ReportReject | ChildSubmit]:
        """The order of a message, and what it means; raises Rejected, Forged, or Transient if no key can be read."""
        if isinstance(message, SignalGiven):
            check_signal(message)
        if not isinstance(message, Callback):
            return message.order_id, message
        if self.transition.tokens is None:
            raise Rejected("callback", "no step of this deployment is answered later")
        token = self.transition.tokens.check(message.callback)
        step = forward_name(token.effect)
        answered = Answered(step, token.effect, token.attempt, token.created_at, message.result, message.error)
        return token.order_id, answered

    def _spare(self, text: str, error: NotUnderstood) -> None:
        """Put back what only newer code knows. It may be a reply, so its attempt is spared while it waits."""
        if told := unread(text, f"the Scheduler was sent {error}"):
            with suppress(Rejected):
                self.transition.apply(told.order_id, told)
        raise error

    def _fail(self, error: Exception) -> None:
        """Refuse one message; a forged token is counted, and costs no read. It is not worth a reject either."""
        if not isinstance(error, Forged):
            raise error
        now = self.transition.now()
        self.transition.telemetry.record("", HistoryEntry(now, HistoryKind.FORGED, note=str(error)))
