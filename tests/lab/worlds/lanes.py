"""The lanes of a world, which judge each write as it is made, and whose index may be stale."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.gate import Gate
from stepward.testing.memory.lanes import MemoryLanes
from tests.factories import HOUR, MINUTE
from tests.lab.convoy.record import RecordedLanes


def rules(dice: Random) -> LaneRules:
    """The rules of a world's lanes: by sequence numbers, or by the order of their queue."""
    sequenced, idle_after = dice.random() < 0.5, dice.choice([0, 24 * HOUR])
    return LaneRules(sequenced, gap_within=15 * MINUTE, idle_after=idle_after, attempts=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes(RecordedLanes):
    """The lanes."""

    gate: Gate

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        saved = RecordedLanes.save(self, lane, replaces=replaces, rows=rows, older=older)
        if saved:
            self._written(lane)
        return saved

    def half_of_save(self, lane: Lane, *, older: Sequence[StoredEvent] = (), **_: object) -> None:
        """A save that gets half-way has written `older` and nothing else."""
        self.kept.setdefault(lane.order_id, {}).update({row.position: row for row in older})

    def due(self, shard: int, until: int) -> Iterator[str]:
        due = list(MemoryLanes.due(self, shard, until))
        name = f"the lanes of shard {shard} are stale at {self.gate.loop.now}"
        stale = self.gate.chances.happens(name, self.gate.profile.mail)
        yield from [*due, *due, *self.lanes] if stale else due

    def _written(self, lane: Lane) -> None:
        self.gate.diary.counts["writes of lanes"] += 1
        if self.gate.diary.is_kept:
            progress = f"blocked: {lane.blocked.reason}" if lane.blocked else f"{lane.last} of {lane.highest}"
            self.gate.diary.note(lane.order_id, f"lane {lane.revision} by {self.gate.here.instance}: {progress}")
        if self.faults:
            raise Broken("I7", lane.order_id, self.faults[0])
