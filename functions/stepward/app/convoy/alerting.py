"""Alerts to the lanes that wait for an operator: once per trouble, however many instances see it."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Alerted, Lane, LaneRules, alerted, owed
from stepward.domain.errors import Corrupt
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import LaneWaits
from stepward.ports import Alerts, Lanes, Telemetry

_HISTORY = {Alerted.GAP: HistoryKind.GAP, Alerted.IDLE: HistoryKind.IDLE}


def alert_of(lane: Lane, what: Alerted) -> LaneWaits:
    """The alert to this trouble of the lane."""
    position, at = lane.last + 1, lane.touched_at
    reason = f"nothing has come after event {lane.last}, which was not the last one"
    if what is Alerted.BLOCKED and lane.blocked:
        position, reason, at = lane.blocked.position, lane.blocked.reason, lane.blocked.since
    elif what is Alerted.GAP:
        reason, at = f"event {position} has not come, and {lane.highest} has", lane.gap_since or at
    return LaneWaits(lane.order_id, sequence_name(position), what, reason, at)


@dataclass(frozen=True, slots=True)
class LaneAlerting:
    """Sends alerts, and notes them on their lanes; after a death in between, an alert is sent again."""

    lanes: Lanes
    alerts: Alerts
    telemetry: Telemetry
    rules: LaneRules

    def alert(self, lane: Lane, now: int) -> None:
        """Send the alert that is due for the lane, if there is one; raises Transient."""
        what = owed(lane, self.rules, now)
        if what is not Alerted.NOTHING and self.alerts.send(alert_of(lane, what)):
            self._note(lane, what, now)

    def _note(self, lane: Lane, what: Alerted, now: int) -> None:
        """Note the alert; a lane that has changed meanwhile stays due."""
        if self.lanes.save(alerted(lane, what, self.rules), replaces=lane) and what in _HISTORY:
            note = alert_of(lane, what).reason
            self.telemetry.record(lane.order_id, HistoryEntry(now, _HISTORY[what], f"event {lane.last + 1}", note=note))

    def confirm(self, alert: LaneWaits, now: int) -> None:
        """Note that the alert is out in a summary; raises Transient."""
        try:
            lane = self.lanes.load(alert.order_id)
        except Corrupt:
            return
        if lane is not None:
            what = owed(lane, self.rules, now)
            if _same(alert, alert_of(lane, what)):
                self._note(lane, what, now)


def _same(alert: LaneWaits, other: LaneWaits) -> bool:
    """Whether both are of one trouble; the lane may wait at another event by now."""
    return (alert.trouble, alert.event, alert.at) == (other.trouble, other.event, other.at)
