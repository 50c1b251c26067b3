"""The Scheduler: each message changes the task that it names."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from stepward.app.scheduler.audit_log import AuditLog
from stepward.app.scheduler.transition import Transition
from stepward.domain.errors import Forged, NotUnderstood, Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Callback, ChildSubmit, ChildUndo, Command, ReportReject, SignalGiven, ToScheduler
from stepward.domain.steps.later import Answered
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import SUBMITTERS, forward_name
from stepward.wire.messages import decode_for_scheduler, unread
from stepward.wire.order import check_signal


@dataclass(frozen=True, slots=True)
class Schedule:
    """Runs the steps of every task in their order; the workflow is data."""

    transition: Transition
    audit_log: AuditLog

    def handle(self, text: str) -> None:
        """Apply the message in `text`; raises Rejected or Transient.

        The outcome of a command is in the audit log before its message is acknowledged. If the process dies between the
        two, the next delivery finds what the order remembers of the command.
        """
        message = self._read(text)
        if isinstance(message, ReportReject):
            if self.transition.notices is not None:
                self.transition.notices.post(message)
            return
        if isinstance(message, Callback):
            self._answered(message)
            return
        if isinstance(message, ChildSubmit | ChildUndo):
            from stepward.app.scheduler.children import Children  # few orders have any

            Children(self.transition).handle(message)
            return
        if isinstance(message, SignalGiven):
            check_signal(message)
        history = self.transition.apply(message.order_id, message)
        if isinstance(message, Command) and not (isinstance(message, SignalGiven) and message.door == SUBMITTERS):
            self.audit_log.keep(message.order_id, message, history, lambda: self._task(message.order_id))

    def _answered(self, message: Callback) -> None:
        """Apply a service's answer. A forged token is counted, and costs no read; it is not worth a reject either."""
        transition = self.transition
        if transition.tokens is None:
            raise Rejected("callback", "no step of this deployment is answered later")
        try:
            token = transition.tokens.check(message.callback)
        except Forged as error:
            transition.telemetry.record("", HistoryEntry(transition.now(), HistoryKind.FORGED, note=str(error)))
            return
        step, result = forward_name(token.effect), message.result
        answered = Answered(step, token.effect, token.attempt, token.created_at, result, message.error)
        transition.apply(token.order_id, answered)

    def _read(self, text: str) -> ToScheduler:
        """The message; one that only newer code knows may be a reply, so its attempt is spared while it waits."""
        try:
            return decode_for_scheduler(text)
        except NotUnderstood as error:
            if told := unread(text, f"the Scheduler was sent {error}"):
                with suppress(Rejected):
                    self.transition.apply(told.order_id, told)
            raise

    def _task(self, order_id: str) -> Task | None:
        loaded = self.transition.store.load(order_id, with_order=False)
        return loaded.task if loaded else None
