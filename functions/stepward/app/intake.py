"""Intake: a message that cannot be accepted is kept as a reject, and never stops its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.rejects import Reject
from stepward.ports import Rejects, Telemetry
from stepward.wire.order import order_id_hint


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


@dataclass(frozen=True, slots=True)
class Intake:
    """Handles a message, or keeps it as a reject, which is not retried."""

    handle: Callable[[str], None]
    rejects: Rejects
    telemetry: Telemetry

    def accept(self, message: Received) -> None:
        """Handle `message`; raises Transient if it has to come back."""
        try:
            self.handle(message.body)
        except Rejected as error:
            keep(message, error, self.rejects, self.telemetry)


def keep(message: Received, error: Rejected, rejects: Rejects, telemetry: Telemetry) -> None:
    """Keep a message as a reject, and log it; raises Transient."""
    order_id = order_id_hint(message.body)
    reject = Reject(
        message_id=message.message_id,
        source=message.source,
        received_at=message.received_at,
        field=error.field,
        reason=error.reason,
        body=message.body,
        order_id=order_id,
    )
    rejects.keep(reject)
    telemetry.record(
        order_id, HistoryEntry(message.received_at, HistoryKind.REJECTED, by=message.source, note=str(error))
    )
