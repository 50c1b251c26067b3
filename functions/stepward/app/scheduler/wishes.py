"""What a message means to an order that is not there: a cancellation or a signal is remembered until it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stepward.app.optimistic import Race
from stepward.domain.coordination.outlook import DeadlineCheck
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel, SignalGiven
from stepward.domain.task.decide import Event
from stepward.domain.wish import Early, Wish, noted
from stepward.ports import TaskStore


@dataclass(frozen=True, slots=True)
class Wishes:
    """Remembers what was wished of orders that have not come yet, and drops what nobody needed."""

    store: TaskStore
    now: Callable[[], int]

    def take(self, order_id: str, event: Event) -> tuple[HistoryEntry, ...] | None:
        """What happened; None if the order's task is there by now. Raises Rejected if `event` means nothing without it.

        A queue without order may deliver both before their order. A second delivery finds what the first one left.
        """
        match event:
            case Cancel() | SignalGiven():
                return self._remember(event)
            case DeadlineCheck() if wish := self.store.wish(order_id):
                return self._checked(wish)
        raise Rejected("orderId", f"there is no task for {order_id!r}")

    def _remember(self, event: Early) -> tuple[HistoryEntry, ...] | None:
        race, wanted, replaces = Race(event.order_id), Wish.of(event, self.now()), None
        while (found := self.store.remember(wanted, replaces=replaces)) is not None:
            if kept := found.holds(event):
                return (noted(event, kept.at, event.why),)
            expired = found.due <= self.now()
            replaces, wanted = found, Wish.of(event, self.now()) if expired else found.adding(event, self.now())
            race.lost()
        return None

    def _checked(self, wish: Wish) -> tuple[HistoryEntry, ...]:
        if wish.due > self.now():
            return ()
        self.store.drop(wish)
        return tuple(_unmet(each.event, self.now()) for each in wish.kept)


def _unmet(event: Early, now: int) -> HistoryEntry:
    return replace(noted(event, now, f"no such order came in 30 days: {event.why}"), kind=HistoryKind.UNMET)
