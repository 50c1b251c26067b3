"""Intake: a message that cannot be accepted is kept as a reject, and never stops its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from stepward.domain.backoff import absence
from stepward.domain.errors import NotUnderstood, Rejected, RetryLater
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.rejects import Reject
from stepward.ports import Rejects, Telemetry
from stepward.wire.order import masked, order_id_hint


@dataclass(frozen=True, slots=True)
class Received:
    """One message; `received_at` is epoch ms of its arrival in the queue named `source`.

    `group` is its message group as the queue has it; "" on a queue without groups.
    """

    message_id: str
    source: str
    received_at: int
    body: str
    group: str = ""


Act = Callable[[], None]
Together = Callable[[Sequence[str], Callable[[], int]], Sequence[Act]]
"""What handles each of some texts, with so many milliseconds to the end of the run."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Handles a message, or keeps it as a reject, which is not retried; `together` handles those of a batch."""

    handle: Callable[[str], None]
    rejects: Rejects
    telemetry: Telemetry
    now: Callable[[], int]
    together: Together | None = None

    def accept(self, message: Received) -> None:
        """Handle `message`; raises Transient if it has to come back."""
        self._accept(message, partial(self.handle, message.body))

    def accepting(self, messages: Sequence[Received], remaining: Callable[[], int]) -> Sequence[Act]:
        """What handles each of these messages, in their order; raises Transient if that message has to come back."""
        if self.together is None:
            return [partial(self.accept, message) for message in messages]
        acts = self.together([message.body for message in messages], remaining)
        return [partial(self._accept, message, act) for message, act in zip(messages, acts, strict=True)]

    def _accept(self, message: Received, act: Act) -> None:
        try:
            with putting_back(message, self.telemetry, self.now):
                act()
        except Rejected as error:
            keep(message, error, self.rejects, self.telemetry)


@contextmanager
def putting_back(message: Received, telemetry: Telemetry, now: Callable[[], int]) -> Iterator[None]:
    """Return a message to its queue, as it is, if newer code wrote it or its record; raises RetryLater.

    Its age is measured, so that an alarm tells an operator when it waits for long. It is away for longer each time.
    """
    try:
        yield
    except NotUnderstood as error:
        age = max(0, now() - message.received_at)
        kind, order_id = HistoryKind.NOT_UNDERSTOOD, order_id_hint(message.body)
        telemetry.record(order_id, HistoryEntry(now(), kind, by=message.source, note=str(error), value=age))
        raise RetryLater(absence(age, 1.0) // 1000, str(error)) from error


def keep(message: Received, error: Rejected, rejects: Rejects, telemetry: Telemetry) -> None:
    """Keep a message as a reject, and log it; raises Transient."""
    order_id = order_id_hint(message.body)
    reject = Reject(
        message_id=message.message_id,
        source=message.source,
        received_at=message.received_at,
        field=error.field,
        reason=error.reason,
        body=masked(message.body),
        order_id=order_id,
    )
    rejects.keep(reject)
    telemetry.record(
        order_id, HistoryEntry(message.received_at, HistoryKind.REJECTED, by=message.source, note=str(error))
    )
