"""An order as it is submitted, and how its submission ends."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum

from stepward.domain.errors import Rejected
from stepward.domain.timing import DAY_MS, LONGEST_ORDER_MS


@dataclass(frozen=True, slots=True)
class Order:
    """An accepted order: its task's key, its canonical text, and the hash that tells a duplicate from a conflict."""

    order_id: str
    body: str
    content_hash: str

    @staticmethod
    def of(order_id: str, body: str) -> Order:
        """The order of this key and canonical text."""
        return Order(order_id, body, hashlib.sha256(body.encode()).hexdigest())


def check_complete_by(complete_by: int, submitted_at: int) -> int:
    """An order's own complete-by, if it follows the submission (epoch ms) by at most two years; else raises Rejected.

    The order's own time is compared, not a clock: a message that came late, or again, is judged as it was at first.
    """
    if complete_by <= submitted_at:
        raise Rejected("completeBy", "is not after submittedAt; name a later time, or leave it out")
    if complete_by > submitted_at + LONGEST_ORDER_MS:
        raise Rejected(
            "completeBy", f"is more than {LONGEST_ORDER_MS // DAY_MS} days after submittedAt; name an earlier time"
        )
    return complete_by


class Submission(Enum):
    """How a submission ended."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
