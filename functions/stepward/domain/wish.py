"""A wish about an order that has not come yet: it waits in the place of the order's task, and is met when it comes."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.domain.messages import Cancel

LASTS = 30 * 86_400_000
"""Milliseconds: longer than any message can wait in a queue and then in its dead-letter queue, 14 days in each."""
LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Wish:
    """The cancellation of an order, `at` epoch ms, that came before the order did."""

    order_id: str
    who: str
    why: str
    at: int
    customer_id: str = ""
    """The customer that whoever cancelled named, or empty."""

    @staticmethod
    def of(event: Cancel, now: int) -> Wish:
        """The wish that `event` leaves if its order is not there at `now`."""
        return Wish(event.order_id, event.who[:LONGEST_TEXT], event.why[:LONGEST_TEXT], now, event.customer_id)

    @property
    def cancel(self) -> Cancel:
        """What is done to the task when the order comes."""
        return Cancel(self.order_id, self.who, self.why, self.customer_id)

    @property
    def due(self) -> int:
        """When it expires; an order that comes later is processed as if nobody had wished anything."""
        return self.at + LASTS
