"""The Supervisor's sweep of the lanes: it sends the alerts that are due, whoever died before sending them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepward.app.convoy.alerting import LaneAlerting
from stepward.domain.history import HistoryEntry
from stepward.domain.messages import Alert, LaneWaits
from stepward.ports import Alerts


@dataclass(frozen=True, slots=True)
class LaneSweep:
    """Checks the lanes that have been due for `skew_margin` (ms), since clocks may differ by so much."""

    alerting: LaneAlerting
    skew_margin: int
    now: Callable[[], int]

    def due(self, shard: int) -> Iterator[str]:
        """The orders of the shard whose lane is due; raises Transient."""
        return self.alerting.lanes.due(shard, self.now() - self.skew_margin)

    def check(self, alerts: Alerts) -> Callable[[str], Sequence[HistoryEntry]]:
        """What alerts to a lane by `alerts`; it raises Transient or Corrupt."""
        alerting = replace(self.alerting, alerts=alerts)

        def check(order_id: str) -> Sequence[HistoryEntry]:
            lane = alerting.lanes.load(order_id)
            if lane is not None:
                alerting.alert(lane, self.now())
            return ()

        return check

    def confirm(self, alert: Alert) -> None:
        """Note that an operator has been alerted to a lane; raises Transient."""
        if isinstance(alert, LaneWaits):
            self.alerting.confirm(alert, self.now())
