"""The Scheduler: each message changes the task that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stepward.app.scheduler.audit_log import AuditLog
from stepward.app.scheduler.transition import Transition
from stepward.domain.messages import Command, ReportReject, SignalGiven
from stepward.domain.task.record import Task
from stepward.domain.workflow.plan import SUBMITTERS
from stepward.wire.messages import decode_for_scheduler
from stepward.wire.order import check_signal


@dataclass(frozen=True, slots=True)
class Schedule:
    """Runs the steps of every task in their order; the workflow is data."""

    transition: Transition
    audit_log: AuditLog
    signals: Callable[[str], Mapping[str, type[Any]]]
    """The classes of the signals that a task may be given, by their names, for its key."""

    def handle(self, text: str) -> None:
        """Apply the message in `text`; raises Rejected or Transient.

        The outcome of a command is in the audit log before its message is acknowledged. If the process dies between the
        two, the next delivery finds what the order remembers of the command.
        """
        message = decode_for_scheduler(text)
        if isinstance(message, ReportReject):
            if self.transition.notices is not None:
                self.transition.notices.post(message)
            return
        if isinstance(message, SignalGiven):
            check_signal(message, self.signals(message.order_id).get(message.step))
        history = self.transition.apply(message.order_id, message)
        if isinstance(message, Command) and not (isinstance(message, SignalGiven) and message.door == SUBMITTERS):
            self.audit_log.keep(message.order_id, message, history, lambda: self._task(message.order_id))

    def _task(self, order_id: str) -> Task | None:
        loaded = self.transition.store.load(order_id, with_order=False)
        return loaded.task if loaded else None
