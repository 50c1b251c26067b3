"""`retry` for many lanes: the command for each, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from stepward.domain.convoy.apply_command import is_done
from stepward.domain.convoy.commands import RetryLane
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.lane_message import LaneMessage
from stepward.domain.errors import Corrupt, NotUnderstood
from stepward.operator.asked import asked
from stepward.operator.bulk import Bulk, End, Ended, Prepared
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.lane_words import lane_state, why_it_waits
from stepward.operator.outcome import lane_refusal
from stepward.operator.rows import Row, row_of_lane
from stepward.wire.convoy import encode_command


@dataclass(frozen=True, slots=True)
class WaitingLanes:
    """The lanes that wait for an operator and match a filter."""

    connection: Connection
    bulk: Bulk

    def rows(self, wish: Filter, corrupt: list[str]) -> Iterator[Row]:
        """Those that the index lists, the longest waiting first; see Subjects."""
        for key in dict.fromkeys(self.connection.lanes.needing_attention()):
            try:
                lane = self.connection.lanes.load(key)
            except (Corrupt, NotUnderstood) as error:
                corrupt.append(str(error))
                continue
            if lane is None or lane.needs_attention is None:
                continue
            row = row_of_lane(lane, self.connection.deployment.keys.default)
            if wish.matches(row):
                yield row

    def prepared(self, rows: Sequence[Row]) -> Iterator[Prepared]:
        """The lane's own decision, dry; see Subjects."""
        keys = self.connection.deployment.keys
        for lane in self._loaded([row.key for row in rows]):
            command = self._retry(lane)
            yield Prepared(row_of_lane(lane, keys.default), command, self._refusal(lane, command))

    def send(self, ready: Sequence[Prepared]) -> None:
        """To the queue of order events; see Subjects."""
        commands: list[RetryLane] = [each.given for each in ready]
        self.connection.lane_queue.send(
            [LaneMessage(each.order_id, f"operator/{each.command_id}", encode_command(each)) for each in commands]
        )

    def looked(self, sent: Sequence[Prepared], *, last: bool) -> Iterator[Ended]:
        """What the lanes and, at last, their audit logs say; see Subjects."""
        given: dict[str, RetryLane] = {each.row.key: each.given for each in sent}
        for lane in self._loaded(list(given)):
            command, state = given[lane.order_id], lane_state(lane)
            if is_done(lane, command):
                yield Ended(lane.order_id, End.APPLIED, why_it_waits(lane) if lane.blocked else "", state)
            elif last:
                entry = asked("convoy retry", command).entry((), self.connection.audit_log.of(lane.order_id))
                was_refused = entry is not None and not entry.applied
                end = End.REFUSED if was_refused else End.ASKED
                yield Ended(lane.order_id, end, entry.note if entry and was_refused else "", state)

    def _refusal(self, lane: Lane, command: RetryLane) -> str:
        refusal = lane_refusal(self.connection, lane, command)
        return refusal.text if refusal else ""

    def _loaded(self, keys: Sequence[str]) -> Iterator[Lane]:
        for key in keys:
            try:
                lane = self.connection.lanes.load(key)
            except (Corrupt, NotUnderstood):
                continue
            if lane is not None:
                yield lane

    def _retry(self, lane: Lane) -> RetryLane:
        """Its id names the bulk and the very block, so that the same bulk again asks for nothing twice."""
        blocked = lane.blocked
        at = f"{self.bulk.name}/{lane.order_id}/{blocked.position}/{blocked.since}" if blocked else lane.order_id
        return RetryLane(lane.order_id, self.bulk.who, self.bulk.reason, sha256(at.encode()).hexdigest()[:32])
