"""Judges every change of every lane as it is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Alerted, Lane, LaneRules
from stepward.testing.memory.lanes import MemoryLanes


@dataclass(frozen=True, slots=True)
class RecordedLanes(MemoryLanes):
    """Judges each write as it is made: `faults` says what was wrong; `gaps` holds since when each lane has waited."""

    rules: LaneRules = field(default_factory=LaneRules)
    gaps: dict[tuple[str, int], int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        before = held(self, self.lanes.get(lane.order_id))
        saved = MemoryLanes.save(self, lane, replaces=replaces, rows=rows, older=older)
        if saved:
            self._judge(replaces, lane, before)
        return saved

    def _judge(self, before: Lane, lane: Lane, were: dict[int, StoredEvent]) -> None:
        now = held(self, lane)
        self._expect(lane.revision > before.revision, lane, "a change without a new revision")
        self._expect(lane.last >= before.last, lane, "went back")
        for position in range(1, lane.last + 1):
            self._expect(position in now, lane, f"{position} was jumped")
            if position <= before.last and position in were:
                self._expect(now.get(position) == were[position], lane, f"{position} was applied twice")
        for position in range(before.last + 1, lane.last + 1):
            if position in now and not now[position].skipped:
                self._expect(not lane.end or position <= lane.end, lane, f"{position} was applied after the end")
        self._expect(set(were) <= set(now), lane, "an event has vanished")
        self._judge_due(lane)

    def _judge_due(self, lane: Lane) -> None:
        """I9: what the index lists is early or on time."""
        key = (lane.order_id, lane.last)
        if lane.blocked:
            self.gaps.pop(key, None)
            limit = lane.blocked.since + self.rules.alert_within
            self._expect(
                lane.alerted is Alerted.BLOCKED or _by(lane.due, limit), lane, "alerted too late that it is blocked"
            )
        elif lane.highest > lane.last:
            limit = self.gaps.setdefault(key, lane.touched_at) + self.rules.gap_within
            self._expect(lane.alerted is Alerted.GAP or _by(lane.due, limit), lane, "alerted too late of a gap")
        elif self.rules.idle_after and not lane.end and not lane.deleted and lane.alerted is not Alerted.IDLE:
            self._expect(
                _by(lane.due, lane.touched_at + self.rules.idle_after), lane, "alerted too late that it is idle"
            )

    def _expect(self, holds: bool, lane: Lane, fault: str) -> None:
        if not holds:
            self.faults.append(f"{lane.order_id} at revision {lane.revision}: {fault}")


def held(lanes: MemoryLanes, lane: Lane | None) -> dict[int, StoredEvent]:
    """Every event that a lane has, by position."""
    if lane is None:
        return {}
    return lanes.kept.get(lane.order_id, {}) | {event.position: event for event in lane.recent}


def _by(due: int | None, limit: int) -> bool:
    return due is not None and due <= limit
