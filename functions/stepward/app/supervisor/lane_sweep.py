"""The Supervisor's sweep of the lanes: what an operator has to hear of them, whoever died before telling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepward.app.convoy.alerting import LaneAlerting
from stepward.domain.history import HistoryEntry
from stepward.domain.messages import Alert, LaneWaits
from stepward.ports import Alerts


@dataclass(frozen=True, slots=True)
class LaneSweep:
    """Looks at the lanes whose due time has passed for `skew_margin` (ms): clocks may differ by so much."""

    alerting: LaneAlerting
    skew_margin: int
    now: Callable[[], int]

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose lane has to be looked at; raises Transient."""
        return self.alerting.lanes.due(shard, self.now() - self.skew_margin)

    def check(self, alerts: Alerts) -> Callable[[str], Sequence[HistoryEntry]]:
        """What tells by `alerts` what is owed of a lane; it raises Transient or Unreadable."""
        alerting = replace(self.alerting, alerts=alerts)

        def look(order_id: str) -> Sequence[HistoryEntry]:
            lane = alerting.lanes.load(order_id)
            if lane is not None:
                alerting.tell(lane, self.now())
            return ()

        return look

    def told(self, alert: Alert) -> None:
        """Note that an operator has heard of a lane; raises Transient."""
        if isinstance(alert, LaneWaits):
            self.alerting.told(alert, self.now())
