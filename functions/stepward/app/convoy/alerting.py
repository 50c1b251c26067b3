"""Telling operators of a lane: once per trouble, however many instances see it."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Alerted, Lane, LaneRules, owed, told
from stepward.domain.errors import Corrupt
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import LaneWaits
from stepward.ports import Alerts, Lanes, Telemetry

_HISTORY = {Alerted.GAP: HistoryKind.GAP, Alerted.IDLE: HistoryKind.IDLE}


def alert_of(lane: Lane, what: Alerted) -> LaneWaits:
    """What an operator is told of the lane."""
    position, at = lane.last + 1, lane.touched_at
    reason = f"nothing has come after event {lane.last}, which was not the last one"
    if what is Alerted.BLOCKED and lane.blocked:
        position, reason, at = lane.blocked.position, lane.blocked.reason, lane.blocked.since
    elif what is Alerted.GAP:
        reason, at = f"event {position} has not come, and {lane.highest} has", lane.gap_since or at
    return LaneWaits(lane.order_id, sequence_name(position), what, reason, at)


@dataclass(frozen=True, slots=True)
class LaneAlerting:
    """Tells of lanes, and notes on each what is out; whoever dies in between repeats what was not noted."""

    lanes: Lanes
    alerts: Alerts
    telemetry: Telemetry
    rules: LaneRules

    def tell(self, lane: Lane, now: int) -> bool:
        """Tell what is owed of the lane, if anything; whether anything is. Raises Transient."""
        what = owed(lane, self.rules, now)
        if what is Alerted.NOTHING:
            return False
        if self.alerts.tell(alert_of(lane, what)):
            self.note(lane, what, now)
        return True

    def note(self, lane: Lane, what: Alerted, now: int) -> None:
        """Note that an operator knows; a lane that has changed meanwhile is looked at again."""
        if self.lanes.save(told(lane, what, self.rules), replaces=lane) and what in _HISTORY:
            note = alert_of(lane, what).reason
            self.telemetry.record(lane.order_id, HistoryEntry(now, _HISTORY[what], f"event {lane.last + 1}", note=note))

    def told(self, alert: LaneWaits, now: int) -> None:
        """Note that the alert has gone out in a summary; raises Transient."""
        try:
            lane = self.lanes.load(alert.order_id)
        except Corrupt:
            return
        if lane is not None:
            what = owed(lane, self.rules, now)
            if _same(alert, alert_of(lane, what)):
                self.note(lane, what, now)


def _same(alert: LaneWaits, other: LaneWaits) -> bool:
    """Whether both tell of one trouble; a lane may stand still at another event by now."""
    return (alert.trouble, alert.event, alert.at) == (other.trouble, other.event, other.at)
