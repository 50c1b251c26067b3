"""The Supervisor's look at the lanes: what an operator has to hear of them, whoever died before telling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from stepward.app.lane_telling import LaneTelling
from stepward.domain.messages import Alert
from stepward.ports import Alerts


@dataclass(frozen=True, slots=True)
class LanePatrol:
    """Looks at the lanes whose due time has passed for `skew_margin` (ms): clocks may differ by so much."""

    telling: LaneTelling
    skew_margin: int
    now: Callable[[], int]

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose lane has to be looked at; raises Transient."""
        return self.telling.lanes.due(shard, self.now() - self.skew_margin)

    def look(self, order_id: str, alerts: Alerts) -> None:
        """Tell by `alerts` what is owed of a lane; raises Transient or Unreadable."""
        lane = self.telling.lanes.load(order_id)
        if lane is not None:
            replace(self.telling, alerts=alerts).tell(lane, self.now())

    def told(self, alert: Alert) -> None:
        """Note that an operator has heard of a lane; raises Transient."""
        self.telling.told(alert, self.now())
