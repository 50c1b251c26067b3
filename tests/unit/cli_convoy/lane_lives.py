"""Lanes in all their states, as the convoy left them in memory."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from stepward.app.convoy.convoy import Arrival
from stepward.app.convoy.history import stored_at_position
from stepward.app.intake import Received
from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.lane import Lane, LaneRules
from stepward.operator.outcome import LaneSeen
from stepward.ports import Lanes, SharedRecords
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.wire.order_event import event_of
from tests.factories import T0
from tests.unit.engine.world import World

ORDER = "ord-1"


def entry(sequence: int | None, op: str = "add", order_id: str = ORDER, **content: Any) -> dict[str, Any]:
    """A ledger's entry for an event."""
    numbered = {} if sequence is None else {"sequence": sequence}
    created = {"submittedAt": "2026-11-28T00:00:00Z", "currency": "EUR"} if op == "create" else {}
    return {"orderId": order_id, "op": op, **numbered, **created, **content}


@dataclass
class LaneLife:
    """One lane, and a convoy that works on it."""

    rules: LaneRules = field(default_factory=LaneRules)
    lanes: Lanes = field(default_factory=MemoryLanes)
    shared_records: SharedRecords = field(default_factory=MemorySharedRecords)
    world: World = field(default_factory=World)
    ids: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.audit_log = AuditLog(self.shared_records)
        assembly = self.world.assembly(lane_rules=self.rules)
        assembly = replace(assembly, lanes=self.lanes, shared_records=self.shared_records)
        self.convoy = assembly.convoy("convoy-1").convoy

    def bring(self, *contents: Mapping[str, Any]) -> "LaneLife":
        """Have events arrive."""
        for content in contents:
            event = event_of(content)
            self.convoy.events(event.order_id, [Arrival(self._received(json.dumps(content)), event)], lambda: 60_000)
        return self

    def ask(self, command: LaneCommand) -> "LaneLife":
        """Have a command arrive."""
        self.convoy.command(command, self._received(""), lambda: 60_000)
        return self

    @property
    def lane(self) -> Lane:
        """The lane now."""
        lane = self.lanes.load(ORDER)
        assert lane is not None
        return lane

    @property
    def seen(self) -> LaneSeen:
        """What the command line reads."""
        lane = self.lane
        following = stored_at_position(self.lanes, lane, lane.last + 1) if lane.last < lane.highest else None
        return LaneSeen(lane, following, self.audit_log.of(ORDER))

    def _received(self, body: str) -> Received:
        return Received(f"m-{next(self.ids)}", "order-events", T0, body)


def flowing() -> LaneLife:
    """Three events, all applied."""
    return LaneLife().bring(entry(1, "create"), entry(2, amount=5), entry(3, "modify", modifies=2, amount=6))


def poisoned() -> LaneLife:
    """Event 4 is refused, and 5 waits behind it."""
    return flowing().bring(entry(4, "modify", modifies=3, amount=1), entry(5, amount=7))


def torn() -> LaneLife:
    """Event 4 is missing, and 5 has arrived."""
    return flowing().bring(entry(5, amount=7))


def unsequenced_events() -> LaneLife:
    """An event without a sequence stops the lane."""
    return flowing().bring(entry(None, amount=9), entry(4, amount=7))


def ended() -> LaneLife:
    """The last event has come, and all are applied."""
    return flowing().bring(entry(4, amount=8, end=True))
