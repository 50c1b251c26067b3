"""The lanes of a world, each write of them judged as it is made, and the queue that leads there."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
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
    """What the deployment of a world asks of its lanes: sequence numbers, or the order of their queue."""
    sequenced, idle_after = dice.random() < 0.5, dice.choice([0, 24 * HOUR])
    return LaneRules(sequenced, gap_within=15 * MINUTE, idle_after=idle_after, attempts=4)


@dataclass(slots=True)
class Lanes:
    """The lanes behind the gate, with write ids as the state store has them."""

    gate: Gate
    rules: LaneRules
    inner: RecordedLanes = field(init=False)
    write_ids: dict[str, int] = field(default_factory=dict)
    new_ids: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.inner = RecordedLanes(shard_of=shard_of, rules=self.rules)

    def load(self, order_id: str) -> Lane | None:
        """See the port."""
        return self.gate.through("a read of the lane", lambda: self.inner.load(order_id), about=order_id)

    def rows(self, order_id: str, first: int, most: int) -> Sequence[StoredEvent]:
        """See the port."""
        return self.gate.through("a read of events", lambda: self.inner.rows(order_id, first, most), about=order_id)

    def save(
        self, lane: Lane, *, replaces: Lane, rows: Sequence[StoredEvent] = (), older: Sequence[StoredEvent] = ()
    ) -> bool:
        """See the port; what goes half-way has written `older` and nothing else."""
        order_id, write_id = lane.order_id, next(self.new_ids)

        def put() -> bool:
            if saved := self.inner.save(lane, replaces=replaces, rows=rows, older=older):
                self.write_ids[order_id] = write_id
                self._written(lane)
            return saved

        def again() -> bool:
            return put() or self.write_ids.get(order_id) == write_id

        def partly() -> None:
            self.inner.kept.setdefault(order_id, {}).update({row.position: row for row in older})

        return self.gate.through("a write of the lane", put, about=order_id, again=again, partly=partly)

    def due(self, shard: int, until: int) -> Iterator[str]:
        """See the port."""
        site, now = f"the lanes of shard {shard}", self.gate.loop.now
        due = self.gate.through(site, lambda: list(self.inner.due(shard, until)))
        stale = self.gate.chances.happens(f"{site} are stale at {now}", self.gate.profile.mail)
        yield from [*due, *due, *self.inner.lanes] if stale else due

    def needing_attention(self) -> Iterator[str]:
        """See the port."""
        return self.inner.needing_attention()

    def _written(self, lane: Lane) -> None:
        self.gate.diary.counts["writes of lanes"] += 1
        if self.gate.diary.is_kept:
            stands = f"blocked: {lane.blocked.reason}" if lane.blocked else f"{lane.last} of {lane.highest}"
            self.gate.diary.note(lane.order_id, f"lane {lane.revision} by {self.gate.here.instance}: {stands}")
        if self.inner.faults:
            raise Broken("I7", lane.order_id, self.inner.faults[0])


@dataclass(slots=True)
class LaneQueue:
    """What comes for one order in one send travels as one batch."""

    gate: Gate
    mail: Mailed

    def send(self, messages: Sequence[LaneMessage]) -> None:
        """See the port."""
        batches: dict[str, list[str]] = {}
        for message in messages:
            batches.setdefault(message.order_id, []).append(message.body)
        everything = list(batches.items())

        def send(chosen: Sequence[tuple[str, list[str]]]) -> None:
            for order_id, bodies in chosen:
                self.mail("lanes", order_id, json.dumps(bodies), 0)

        self.gate.through("the send to lanes", lambda: send(everything), partly=lambda: send(everything[1:]))
