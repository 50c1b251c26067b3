"""What a message means to an order that is not there: its cancellation is remembered until it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel
from stepward.domain.task.decide import Event
from stepward.domain.wish import Wish
from stepward.ports import TaskStore


@dataclass(frozen=True, slots=True)
class Wishes:
    """Remembers what was wished of orders that have not come yet, and drops what nobody needed."""

    store: TaskStore
    now: Callable[[], int]

    def take(self, order_id: str, event: Event) -> tuple[HistoryEntry, ...] | None:
        """What happened; None if the order's task is there by now. Raises Rejected if `event` means nothing without it.

        A queue without order may deliver a cancellation before its order. A second delivery finds the first one's wish.
        """
        match event:
            case Cancel():
                if (wish := self.store.remember(Wish.of(event, self.now()))) is None:
                    return None
                return (HistoryEntry(wish.at, HistoryKind.EARLY, by=event.who, note=event.why),)
            case DeadlineCheck() if wish := self.store.wish(order_id):
                return self._checked(wish)
        raise Rejected("orderId", f"there is no task for {order_id!r}")

    def _checked(self, wish: Wish) -> tuple[HistoryEntry, ...]:
        if wish.due > self.now():
            return ()
        self.store.drop(wish)
        note = f"no such order came in 30 days: {wish.why}"
        return (HistoryEntry(self.now(), HistoryKind.UNMET, by=wish.who, note=note),)
