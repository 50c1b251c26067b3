"""The Scheduler: each message changes the task that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from stepward.app.optimistic import Patience
from stepward.app.scheduler.audit_log import AuditLog
from stepward.app.scheduler.shared_write import SharedWrite
from stepward.app.scheduler.transition import Transition
from stepward.domain.messages import Command, ReportReject
from stepward.domain.task.decide import Event
from stepward.domain.task.record import Task
from stepward.wire.messages import decode_for_scheduler

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
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one message, it alone comes back
                acts.append(partial(_fail, error))
                continue
            if isinstance(message, ReportReject):
                acts.append(partial(self._tell, message))
                continue
            if (write := writes.get(message.order_id)) is None:
                race = partial(self.patience.race, message.order_id, remaining)
                write = writes[message.order_id] = SharedWrite(self.transition, message.order_id, race)
            acts.append(partial(self._apply, message, write, write.add(message)))
        return acts

    def _tell(self, message: ReportReject) -> None:
        if self.transition.notices is not None:
            self.transition.notices.post(message)

    def _apply(self, event: Event, write: SharedWrite, position: int) -> None:
        """Apply one message.

        The outcome of a command is in the audit log before its message is acknowledged. If the process dies between the
        two, the next delivery finds what the order remembers of the command.
        """
        order_id = write.order_id
        history = self.transition.finish(order_id, write.outcome(position))
        if isinstance(event, Command):
            self.audit_log.keep(order_id, event, history, lambda: self._task(order_id))

    def _task(self, order_id: str) -> Task | None:
        loaded = self.transition.store.load(order_id, with_order=False)
        return loaded.task if loaded else None


def _fail(error: Exception) -> None:
    raise error
