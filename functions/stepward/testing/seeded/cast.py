"""Who and what lives in a world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stepward.app.assembly import Application
from stepward.domain.coordination.breaker import Limits
from stepward.domain.messages import Alert, LaneWaits, StepFailed
from stepward.domain.rejects import Reject
from stepward.domain.timing import Timing
from stepward.testing.faults.loop import MINUTE, SECOND
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.seeded.instances import Instances
from stepward.testing.seeded.people import People
from stepward.testing.settings import REPLY_QUEUES, Settings

SETTINGS = Settings(
    timing=Timing(claim_within=40 * SECOND, skew_margin=5 * SECOND, outage_after=15 * MINUTE),
    breaker=Limits(failures=3, open_for=10 * SECOND, longest=40 * SECOND),
    reply_queues=REPLY_QUEUES,
    shards=2,
    most_shards=6,
)


@dataclass(slots=True)
class Cast:
    """The releases of an application, oldest first, and people around it; `orders` is how many are ordered.

    What lives beside orders says more in the methods below.
    """

    releases: Sequence[Application]
    people: People
    orders: int
    settings: Settings = SETTINGS
    lanes: MemoryLanes = field(default_factory=MemoryLanes)
    kind: type[Instances] = Instances

    def begin(self, parts: Instances) -> None:
        """Have more people act."""

    def hear(self, alert: Alert) -> None:
        """An operator is alerted."""
        if isinstance(alert, LaneWaits):
            self.hear_of_lane(alert)
        elif isinstance(alert, StepFailed):
            self.people.hear(alert)

    def hear_of_lane(self, alert: LaneWaits) -> None:
        """An operator is alerted that a lane waits."""

    def dues(self) -> Iterable[int]:
        """When a Supervisor has to sweep over the lanes (epoch ms)."""
        return [lane.due for lane in self.lanes.lanes.values() if lane.due is not None]

    def expects(self, _reject: Reject) -> bool:
        """Whether this message deserved its rejection."""
        return False

    def verdict(self) -> None:
        """Check what else must hold at quiet time; raises Broken or AssertionError."""
