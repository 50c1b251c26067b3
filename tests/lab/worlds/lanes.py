"""The lanes of a world, which judge each write as it is made, and the queue that leads there."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.testing.faults.broken import Broken
from stepward.testing.seeded.gate import Gate
from stepward.testing.seeded.ports import Mailed, shard_of
from tests.factories import HOUR, MINUTE
from tests.lab.convoy.record import RecordedLanes


def rules(dice: Random) -> LaneRules:
    """The rules of a world's lanes: by sequence numbers, or by the order of their queue."""
    sequenced, idle_after = dice.random() < 0.5, dice.choice([0, 24 * HOUR])
    return LaneRules(sequenced, gap_within=15 * MINUTE, idle_after=idle_after, attempts=4)


@dataclass(slots=True)
class Lanes:
    """The lanes behind the gate."""

    gate: Gate
    rules: LaneRules
    inner: RecordedLanes = field(init=False)

    def __post_init__(self) -> None:
        self.inner = RecordedLanes(shard_of=shard_of, rules=self.rules)

    def load(self, order_id: str) -> Lane | None:
        return self.gate.through("a read of the lane", lambda: self.inner.load(order_id), about=order_id)

    def rows(self, order_id: str, first: int, most: int) -> Sequence[StoredEvent]:
        return self.gate.through("a read of events", lambda: self.inner.rows(order_id, first, most), about=order_id)

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        """A save that gets half-way has written `older` and nothing else."""
        order_id = lane.order_id

        def put() -> bool:
            if saved := self.inner.save(lane, replaces=replaces, rows=rows, older=older):
                self._written(lane)
            return saved

        def partly() -> None:
            self.inner.kept.setdefault(order_id, {}).update({row.position: row for row in older})

        return self.gate.write("a write of the lane", f"lane/{order_id}", put, about=order_id, partly=partly)

    def due(self, shard: int, until: int) -> Iterator[str]:
        site, now = f"the lanes of shard {shard}", self.gate.loop.now
        due = self.gate.through(site, lambda: list(self.inner.due(shard, until)))
        stale = self.gate.chances.happens(f"{site} are stale at {now}", self.gate.profile.mail)
        yield from [*due, *due, *self.inner.lanes] if stale else due

    def needing_attention(self) -> Iterator[str]:
        return self.inner.needing_attention()

    def _written(self, lane: Lane) -> None:
        self.gate.diary.counts["writes of lanes"] += 1
        if self.gate.diary.is_kept:
            progress = f"blocked: {lane.blocked.reason}" if lane.blocked else f"{lane.last} of {lane.highest}"
            self.gate.diary.note(lane.order_id, f"lane {lane.revision} by {self.gate.here.instance}: {progress}")
        if self.inner.faults:
            raise Broken("I7", lane.order_id, self.inner.faults[0])


@dataclass(slots=True)
class LaneQueue:
    """The queue of the lanes: what one send has for one order travels as one batch."""

    gate: Gate
    mail: Mailed

    def send(self, messages: Sequence[LaneMessage]) -> None:
        batches: dict[str, list[str]] = {}
        for message in messages:
            batches.setdefault(message.order_id, []).append(message.body)
        everything = list(batches.items())

        def send(chosen: Sequence[tuple[str, list[str]]]) -> None:
            for order_id, bodies in chosen:
                self.mail("lanes", order_id, json.dumps(bodies), 0)

        self.gate.through("the send to lanes", lambda: send(everything), partly=lambda: send(everything[1:]))
