"""What could not be accepted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reject:
    """A message that could not be accepted, kept for an operator.

    `source` is the queue it came from, `received_at` epoch ms of its arrival in that queue. The pair of
    `received_at` and `message_id` names it, so keeping it twice keeps it once.
    """

    message_id: str
    source: str
    received_at: int
    field: str
    reason: str
    body: str
    order_id: str = ""
