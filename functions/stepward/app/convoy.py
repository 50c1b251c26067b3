"""The convoy: every order has a lane, and its events are applied there in their sequence, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stepward.app.effects import Effects
from stepward.app.intake import Received
from stepward.app.lane_orders import obey
from stepward.app.lane_telling import LaneTelling
from stepward.app.lane_work import Arrival, LaneWork
from stepward.app.trail import Entry, Trail
from stepward.domain.errors import Conflict
from stepward.domain.facts import Fact, FactKind
from stepward.domain.lane import Lane, LaneRules, opened
from stepward.domain.lane_commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.order_event import OrderEvent, sequence_name
from stepward.ports import Lanes, Rejects, Telemetry

TRIES = 8
_NAMES = {RetryLane: "retry", SkipEvent: "skip", ReplaceEvent: "replace"}


@dataclass(frozen=True, slots=True)
class Convoy:
    """Takes what arrives for one order, in the order in which it arrived."""

    lanes: Lanes
    effects: Effects
    rejects: Rejects
    telling: LaneTelling
    trail: Trail
    telemetry: Telemetry
    rules: LaneRules
    decode: Callable[[str], OrderEvent]
    now: Callable[[], int]

    def events(self, order_id: str, arrivals: Sequence[Arrival]) -> None:
        """Give each event its place and apply what is next, in one write where that is possible. Raises Transient.

        An event has its effect before the lane is written, and each effect is one that can be asked for twice: whoever
        dies in between leaves the lane as it was, and the message comes again.
        """
        done = self._change(order_id, arrivals[0].event, lambda work: self._take(work, arrivals))
        while done.more and done.failure is None:
            done = self._change(order_id, arrivals[0].event, LaneWork.drain)
        if done.failure is not None:
            raise done.failure

    def command(self, command: LaneCommand, received: Received) -> None:
        """Do what an operator asks, and keep in the order's trail what came of it. Raises Transient."""
        refused = ""

        def ask(work: LaneWork) -> None:
            nonlocal refused
            refused = obey(work, command, received, self.decode)

        done = self._change(command.order_id, None, ask)
        self.trail.add(command.order_id, _entry(command, received, refused, done.before.revision))
        if refused:
            self.telemetry.record(command.order_id, Fact(self.now(), FactKind.REFUSED, by=command.who, note=refused))
        while done.more and done.failure is None:
            done = self._change(command.order_id, None, LaneWork.drain)
        if done.failure is not None:
            raise done.failure

    def _change(self, order_id: str, first: OrderEvent | None, decide: Callable[[LaneWork], None]) -> LaneWork:
        """Write what `decide` makes of the lane, then tell of it; read and decide again if somebody was faster."""
        for _ in range(TRIES):
            before = self.lanes.load(order_id) or opened(order_id, first, self.rules)
            work = LaneWork(before, self.lanes, self.effects, self.rejects, self.rules, self.now())
            decide(work)
            if (lane := work.save()) is not None:
                self._tell(lane, work.facts)
                return work
        raise Conflict(f"the lane of {order_id}: {TRIES} writes lost the race; the message will come again")

    @staticmethod
    def _take(work: LaneWork, arrivals: Sequence[Arrival]) -> None:
        for arrival in arrivals:
            if work.failure is None:
                work.take(arrival)
        work.drain()

    def _tell(self, lane: Lane, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self.telemetry.record(lane.order_id, fact)
        self.telling.tell(lane, self.now())


def _entry(command: LaneCommand, received: Received, refused: str, revision: int) -> Entry:
    place = 0 if isinstance(command, RetryLane) else command.place
    return Entry(
        # Not the present time: a command that comes a second time makes the same entry.
        at=received.received_at,
        command=f"convoy {_NAMES[type(command)]}",
        step=f"event {sequence_name(place)}" if place else "",
        attempt=0,
        who=command.who,
        why=command.why,
        applied=not refused,
        note=refused,
        revision=revision if refused else 0,
    )
