"""What is wished of an order that has not come yet; it waits in the place of the order's task until the order comes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel, SignalGiven

LASTS = 30 * 86_400_000
"""Milliseconds: longer than any message can wait in a queue and then in its dead-letter queue, 14 days in each."""
LONGEST_TEXT = 200
MOST_SIGNALS = 10
MOST_CUSTOMERS = 10
"""So many customers may wish something of one order id, ten signals each: with 2,000 bytes a signal, half an item."""

Early = Cancel | SignalGiven


@dataclass(frozen=True, slots=True)
class Kept:
    """A cancellation or a signal, as it came `at` epoch ms."""

    at: int
    event: Early


@dataclass(frozen=True, slots=True)
class Wish:
    """All that came before the order did, oldest first; each customer's own takes nobody else's place."""

    order_id: str
    kept: tuple[Kept, ...]

    @staticmethod
    def of(event: Early, now: int) -> Wish:
        """The wish that `event` leaves if its order is not there at `now`."""
        event = replace(event, who=event.who[:LONGEST_TEXT])
        if isinstance(event, Cancel):
            event = replace(event, why=event.why[:LONGEST_TEXT])
        else:
            event = replace(event, refused=event.refused[:LONGEST_TEXT])
        return Wish(event.order_id, (Kept(now, event),))

    @property
    def due(self) -> int:
        """When it expires; an order that comes later is processed as if nobody had wished anything."""
        return self.kept[-1].at + LASTS

    def holds(self, event: Early) -> Kept | None:
        """What it holds of this very event: one cancellation a customer, a signal by its id."""
        same = (each for each in self.kept if _place(each.event) == _place(event))
        return next((each for each in same if _id(each.event) == _id(event)), None)

    def adding(self, event: Early, now: int) -> Wish:
        """The wish with one more event; raises Rejected if its place is taken, or there is no room."""
        customers = {each.event.customer_id for each in self.kept} | {event.customer_id}
        mine = [each.event for each in self.kept if each.event.customer_id == event.customer_id]
        signals = [each for each in mine if isinstance(each, SignalGiven)]
        if isinstance(event, SignalGiven):
            if given := next((each for each in signals if _place(each) == _place(event)), None):
                raise Rejected("name", f"signal {event.step!r} was given before, as {given.signal_id}")
            if len(signals) >= MOST_SIGNALS:
                raise Rejected("orderId", f"{MOST_SIGNALS} signals wait for this order; send the order, then the rest")
        if len(customers) > MOST_CUSTOMERS:
            raise Rejected("customerId", f"{MOST_CUSTOMERS} customers wish something of this order, which has not come")
        return replace(self, kept=(*self.kept, *Wish.of(event, now).kept))


def noted(event: Early, at: int, note: str) -> HistoryEntry:
    """The history entry of what came before its order."""
    if isinstance(event, SignalGiven):
        return HistoryEntry(at, HistoryKind.SIGNALLED, event.step, by=event.who, note=note)
    return HistoryEntry(at, HistoryKind.EARLY, by=event.who, note=note)


def _place(event: Early) -> tuple[str, ...]:
    """What there may be one of: a cancellation of a customer; a signal of a name, of a customer, by one door."""
    return (event.customer_id, *((event.step, event.door) if isinstance(event, SignalGiven) else ()))


def _id(event: Early) -> str:
    return event.signal_id if isinstance(event, SignalGiven) else ""
