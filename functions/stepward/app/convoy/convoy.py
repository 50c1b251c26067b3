"""The convoy: applies the events of each order in its lane, in sequence, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never
from zlib import crc32

from stepward.app.convoy.alerting import LaneAlerting
from stepward.app.convoy.dry_run import read_event
from stepward.app.convoy.effects import Effects
from stepward.app.intake import Received
from stepward.app.optimistic import LEAST_TIME, Race
from stepward.app.scheduler.audit_log import AuditEntry, AuditLog
from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.decide import LaneDecision, Wanted, decide
from stepward.domain.convoy.event import OrderEvent, sequence_name
from stepward.domain.convoy.lane import Lane, LaneRules, opened
from stepward.domain.convoy.needs import KeepRejects, Known, Need, Perform, ReadEvent, ReadRows, Rejection
from stepward.domain.errors import Corrupt, OtherCustomer, RetryLater, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.rejects import OF_LANE, Reject
from stepward.ports import Lanes, Rejects, Telemetry
from stepward.wire.order_event import as_sent

_NAMES = {RetryLane: "retry", SkipEvent: "skip", ReplaceEvent: "replace"}


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event with the message that brought it."""

    received: Received
    event: OrderEvent


@dataclass(frozen=True, slots=True)
class Convoy:
    """Applies the events and commands of one order at a time. `decode` reads the text of an event."""

    lanes: Lanes
    effects: Effects
    rejects: Rejects
    alerting: LaneAlerting
    audit_log: AuditLog
    telemetry: Telemetry
    rules: LaneRules
    decode: Callable[[str], OrderEvent]
    now: Callable[[], int]

    def events(self, order_id: str, arrivals: Sequence[Arrival], remaining: Callable[[], int]) -> None:
        """Give each event its position and apply those that are next, in one write if possible. Raises Transient.

        If `remaining` (ms) is too short for all changes that this takes, a later run does the rest.

        An event has its effect before the lane is written, and each effect may be requested twice: a death in between
        leaves the lane as it was, and the message comes again.
        """
        messages = [arrival.received for arrival in arrivals]
        _, outcome = self._change(order_id, [arrival.event for arrival in arrivals], messages)
        self._finish(order_id, outcome, remaining)

    def command(self, command: LaneCommand, received: Received, remaining: Callable[[], int]) -> None:
        """Apply a command as events are, and add its outcome to the order's audit log. Raises Transient."""
        before, outcome = self._change(command.order_id, command, [received])
        refused = outcome.refusal.text if outcome.refusal else ""
        self.audit_log.add(command.order_id, _entry(command, received, refused, before.revision))
        if refused:
            self.telemetry.record(
                command.order_id, HistoryEntry(self.now(), HistoryKind.REFUSED, by=command.who, note=refused)
            )
        self._finish(command.order_id, outcome, remaining)

    def _finish(self, order_id: str, outcome: LaneDecision, remaining: Callable[[], int]) -> None:
        """Apply the events that one change has left for another; raises Transient if an effect failed."""
        while outcome.more and outcome.failure is None:
            if remaining() < LEAST_TIME:
                raise RetryLater(0, f"the lane of {order_id} goes on behind event {outcome.lane.last}")
            _, outcome = self._change(order_id, [], [])
        if outcome.failure is not None:
            raise outcome.failure

    def _change(self, order_id: str, wanted: Wanted, messages: Sequence[Received]) -> tuple[Lane, LaneDecision]:
        """Write what `wanted` makes of the lane, then follow up; read and decide again if somebody was faster."""
        first = None if isinstance(wanted, LaneCommand) or not wanted else wanted[0]
        race = Race(f"the lane of {order_id}")
        while True:
            before = self.lanes.load(order_id) or opened(order_id, first, self.rules)
            outcome = self._decided(before, wanted)
            lane, rows, older = outcome.lane, outcome.rows, outcome.older
            if lane is before or self.lanes.save(lane, replaces=before, rows=rows, older=older):
                self._follow_up(outcome, messages)
                return before, outcome
            race.lost()

    def _decided(self, before: Lane, wanted: Wanted) -> LaneDecision:
        """The decision, once all that it needs is known."""
        known, now = Known(), self.now()
        while not isinstance(found := decide(before, known, wanted, self.rules, now), LaneDecision):
            known[found] = self._answer(before, found)
        return found

    def _answer(self, before: Lane, need: Need) -> object:
        match need:
            case ReadRows():
                return self.lanes.rows(before.order_id, need.first, need.most)
            case ReadEvent():
                return read_event(self.decode, need.body)
            case Perform():
                return self._perform(need.event)
            case KeepRejects():
                for late in need.rejections:
                    name = f"{before.order_id}/{late.held_at}"
                    self._keep(late, Received(name, OF_LANE, before.touched_at, ""))
                return None
            case _:
                assert_never(need)

    def _perform(self, event: OrderEvent) -> str | Transient | OtherCustomer:
        try:
            return self.effects.perform(event)
        except (Transient, OtherCustomer) as error:
            return error
        except Corrupt as error:
            return f"the order's task cannot be read: {error}"

    def _follow_up(self, outcome: LaneDecision, messages: Sequence[Received]) -> None:
        """Do what follows the write; after a death here the message comes again, and the decision is the same."""
        lane = outcome.lane
        for entry in outcome.history:
            self.telemetry.record(lane.order_id, entry)
        for rejection in outcome.rejections:
            received, body = messages[rejection.message], rejection.event.body
            if body != received.body:
                # Of a command, which may come again when another event stops the lane: each keeps a name of its own.
                received = replace(received, message_id=f"{received.message_id}/{crc32(body.encode()):08x}")
            self._keep(rejection, received)
        self.alerting.alert(lane, self.now())

    def _keep(self, rejection: Rejection, received: Received) -> None:
        name, _, reason = rejection.why.partition(": ")
        self.rejects.keep(
            Reject(
                message_id=received.message_id,
                source=received.source,
                received_at=received.received_at,
                field=name,
                reason=reason,
                body=as_sent(rejection.event.body),
                order_id=rejection.event.order_id,
            )
        )


def _entry(command: LaneCommand, received: Received, refused: str, revision: int) -> AuditEntry:
    position = 0 if isinstance(command, RetryLane) else command.position
    return AuditEntry(
        # Not the present time, so that a command that comes a second time makes the same entry.
        at=received.received_at,
        command=f"convoy {_NAMES[type(command)]}",
        step=f"event {sequence_name(position)}" if position else "",
        attempt=0,
        who=command.who,
        why=command.why,
        applied=not refused,
        note=refused,
        revision=revision if refused else 0,
    )
