"""Eight consumers of the lanes of orders, each with clients of its own, on one table."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import boto3

from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.app.convoy.convoy import Arrival, Convoy
from stepward.app.convoy.history import history
from stepward.app.intake import Received
from stepward.domain.convoy.commands import LaneCommand
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.convoy.lane import Lane
from stepward.domain.history import HistoryKind
from stepward.local.access import Access
from stepward.testing.memory.queues import MemoryAlerts
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.wire.order_event import event_of
from tests.contract.worlds.lane_worlds import DynamoLaneWorld
from tests.contract.worlds.shared_record_tables import created, on
from tests.contract.worlds.store_worlds import NOW
from tests.lab.convoy.world import entry
from tests.lab.races.conftest import RACERS, Race, until_done


@dataclass(frozen=True)
class Consumers:
    """The racers; the history, rejects and alerts of one round are emptied when the next begins."""

    race: Race
    lanes: Sequence[DynamoLanes]
    shared_records: Sequence[DynamoSharedRecords]
    telemetry: MemoryTelemetry = field(default_factory=MemoryTelemetry)
    rejects: MemoryRejects = field(default_factory=MemoryRejects)
    alerts: MemoryAlerts = field(default_factory=MemoryAlerts)

    @staticmethod
    def new(race: Race, access: Access) -> "Consumers":
        client, endpoint = boto3.client("dynamodb", **access), access["endpoint_url"]
        world, table = DynamoLaneWorld.new(client, endpoint), created(client)
        return Consumers(race, [world.another() for _ in range(RACERS)], [on(table, endpoint) for _ in range(RACERS)])

    def convoy(self, racer: int) -> Convoy:
        ports: dict[str, Any] = {"lanes": self.lanes[racer], "shared_records": self.shared_records[racer]}
        kept: dict[str, Any] = {"telemetry": self.telemetry, "rejects": self.rejects, "alerts": self.alerts}
        convoy = self.race.assembly(racer, **ports, **kept).convoy(f"convoy-{racer}").convoy
        # The alerts of other rounds do not count.
        return replace(convoy, alerting=replace(convoy.alerting, alerts=self.alerts))

    def begin(self, order_id: str, *events: dict[str, Any]) -> None:
        """Begin a round: the order with its create and these events; then forget everything but the lane."""
        self.applies(0, order_id, entry(order_id, 1, "create"), *events)()
        self.telemetry.history.clear()
        self.rejects.kept.clear()
        self.alerts.told.clear()

    def applies(self, racer: int, order_id: str, *events: dict[str, Any]) -> Callable[[], None]:
        arrivals = [
            Arrival(Received(f"{racer}-{position}", "order-events.fifo", NOW, ""), event_of(event))
            for position, event in enumerate(events)
        ]
        return until_done(partial(self.convoy(racer).events, order_id, arrivals, lambda: 60_000))

    def applies_command(self, racer: int, command: LaneCommand) -> Callable[[], None]:
        received = Received(f"command-{racer}", "order-events.fifo", NOW, "")
        return until_done(partial(self.convoy(racer).command, command, received, lambda: 60_000))

    def lane(self, order_id: str) -> Lane:
        found = self.lanes[0].load(order_id)
        assert found is not None
        return found

    def applied(self, order_id: str) -> list[StoredEvent]:
        return list(history(self.lanes[0], self.lane(order_id)))

    def counted(self, kind: HistoryKind) -> Counter[str]:
        return Counter(entry.step for _, entry in self.telemetry.history if entry.kind is kind)

    def check(self, order_id: str, last: int) -> list[StoredEvent]:
        """I7: every event is applied or skipped, once, in order, and nothing waits; return what the lane holds."""
        lane, held = self.lane(order_id), self.applied(order_id)
        assert (lane.last, lane.highest, lane.blocked, lane.gap_since) == (last, last, None, None)
        assert [event.position for event in held] == list(range(1, last + 1))
        done = self.counted(HistoryKind.APPLIED) + self.counted(HistoryKind.SKIPPED)
        assert set(done.values()) == {1}
        return held


def add(order_id: str, position: int, **more: Any) -> dict[str, Any]:
    return entry(order_id, position, "add", amount=f"{position}.00", **more)
