"""Telling operators of a lane: once per trouble, however many instances see it."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.domain.convoy.event import sequence_name
from stepward.domain.convoy.lane import Lane, LaneRules, Told, owed, told
from stepward.domain.errors import Unreadable
from stepward.domain.history import Fact, FactKind
from stepward.domain.messages import LaneWaits
from stepward.ports import Alerts, Lanes, Telemetry

_FACTS = {Told.GAP: FactKind.GAP, Told.IDLE: FactKind.IDLE}


def alert_of(lane: Lane, what: Told) -> LaneWaits:
    """What an operator is told of the lane."""
    place, at = lane.last + 1, lane.touched_at
    reason = f"nothing has come after event {lane.last}, which was not the last one"
    if what is Told.BLOCKED and lane.blocked:
        place, reason, at = lane.blocked.place, lane.blocked.reason, lane.blocked.since
    elif what is Told.GAP:
        reason, at = f"event {place} has not come, and {lane.highest} has", lane.gap_since or at
    return LaneWaits(lane.order_id, sequence_name(place), what, reason, at)


@dataclass(frozen=True, slots=True)
class LaneTelling:
    """Tells of lanes, and notes on each what is out; whoever dies in between repeats what was not noted."""

    lanes: Lanes
    alerts: Alerts
    telemetry: Telemetry
    rules: LaneRules

    def tell(self, lane: Lane, now: int) -> bool:
        """Tell what is owed of the lane, if anything; whether anything is. Raises Transient."""
        what = owed(lane, self.rules, now)
        if what is Told.NOTHING:
            return False
        if self.alerts.tell(alert_of(lane, what)):
            self.note(lane, what, now)
        return True

    def note(self, lane: Lane, what: Told, now: int) -> None:
        """Note that an operator knows; a lane that has changed meanwhile is looked at again."""
        if self.lanes.save(told(lane, what, self.rules), replaces=lane) and what in _FACTS:
            note = alert_of(lane, what).reason
            self.telemetry.record(lane.order_id, Fact(now, _FACTS[what], f"event {lane.last + 1}", note=note))

    def told(self, alert: LaneWaits, now: int) -> None:
        """Note that the alert has gone out in a summary; raises Transient."""
        try:
            lane = self.lanes.load(alert.order_id)
        except Unreadable:
            return
        if lane is not None:
            what = owed(lane, self.rules, now)
            if _same(alert, alert_of(lane, what)):
                self.note(lane, what, now)


def _same(alert: LaneWaits, other: LaneWaits) -> bool:
    """Whether both tell of one trouble; a lane may stand still at another event by now."""
    return (alert.trouble, alert.event, alert.at) == (other.trouble, other.event, other.at)
