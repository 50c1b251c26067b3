"""The settings of a deployment under test, which a stack would give to its functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from stepward.domain.convoy.lane import LaneRules
from stepward.domain.coordination.breaker import Limits
from stepward.domain.coordination.lease import USUAL_LENGTH
from stepward.domain.messages.reply_queues import Allowed
from stepward.domain.timing import Timing

REPLY_TO = "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop"
"""The reply queue that a deployment under test may notify."""
REPLY_QUEUES = Allowed(frozenset({"111122223333"}), frozenset({"us-east-1"}), ("replies-",), "stepward-")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that a test may change; `stepward.config` explains each."""

    timing: Timing = field(default_factory=Timing)
    breaker: Limits = field(default_factory=Limits)
    lane_rules: LaneRules = field(default_factory=LaneRules)
    reply_queues: Allowed = field(default_factory=Allowed)
    complete_within: timedelta | None = None
    shards: int = 1
    most_shards: int = 1
    lease_length: int = USUAL_LENGTH
    ledger_customer: str = ""
    keep_error_texts: bool = True

    @property
    def swept_shards(self) -> int:
        """Number of shards that the Supervisor sweeps."""
        return self.shards
