"""Messages that could not be accepted."""

from __future__ import annotations

from dataclasses import dataclass

OF_LEDGER, OF_LANE = "ledger of ", "the order's lane"
"""Sources of rejects that are no queues: an entry of a customer's ledger, and an event that its lane had stored."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A message that could not be accepted, kept for an operator.

    `source` is the queue it came from, `received_at` epoch ms of its arrival there. Both `received_at` and
    `message_id` name it, so a reject that is kept twice is one. `order_id` is the key of its task where that is known,
    else the id of the order that the text seems to be about.
    """

    message_id: str
    source: str
    received_at: int
    field: str
    reason: str
    body: str
    order_id: str = ""
    kept_at: str = ""
    """Where the body is that `body` lacks because it is large; `Rejects.whole` gets it."""
