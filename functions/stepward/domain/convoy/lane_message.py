"""What is sent to the lane of an order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LaneMessage:
    """The text of one event or command for the lane of an order; `name` is the same each time it is sent.

    `order_id` is the task's key. One that is `alone` has no sequence number: only the queue's order gives it its
    position.
    """

    order_id: str
    name: str
    body: str
    alone: bool = False

    @staticmethod
    def of_ledger(key: str, ledger_id: str, index: int, body: str, *, alone: bool = False) -> LaneMessage:
        """The entry at `index` of a ledger."""
        return LaneMessage(key, f"{ledger_id}/{index}", body, alone)
