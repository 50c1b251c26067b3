"""The Supervisor's sweep of the lanes, beside that of the tasks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from stepward.domain.convoy.lane import Alerted, Blocked, Lane, LaneRules, due
from stepward.domain.errors import Corrupt, Transient
from stepward.domain.health import Swept
from stepward.domain.history import HistoryKind
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.queues import MemoryAlerts
from tests.factories import MINUTE, SECOND, T0, of_lanes
from tests.unit.engine.world import SHARDS, World

RULES = LaneRules(gap_within=10 * MINUTE)
PLENTY = 10 * MINUTE
LATER = RULES.gap_within + MINUTE


def shard_of(order_id: str) -> int:
    return sum(order_id.encode()) % SHARDS


@dataclass(frozen=True, slots=True)
class Faulty(MemoryLanes):
    """Some lanes cannot be read, and some shards cannot be listed."""

    corrupt: set[str] = field(default_factory=set)
    unlisted: set[int] = field(default_factory=set)
    listed: list[int] = field(default_factory=list)

    def load(self, order_id: str) -> Lane | None:
        if order_id in self.corrupt:
            raise Corrupt(f"{order_id}: garbage")
        return MemoryLanes.load(self, order_id)

    def due(self, shard: int, until: int) -> Iterator[str]:
        self.listed.append(shard)
        if shard in self.unlisted:
            raise Transient("throttled")
        yield from MemoryLanes.due(self, shard, until)


@dataclass
class SweptLanes(World):
    """A deployment with lanes."""

    rules: LaneRules = RULES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lanes = Faulty(shard_of)

    def sweep(self, after: int = 0, remaining: Callable[[], int] = lambda: PLENTY) -> Swept:
        """A Supervisor sweeps after so many milliseconds."""
        self.clock.now += after
        assembly = replace(self.assembly(lane_rules=self.rules), lanes=self.lanes)
        return assembly.supervisor("supervisor-1", self.plan.agents).sweep(remaining)

    def put(self, lane: Lane) -> None:
        lane = replace(lane, revision=1, due=due(lane, self.rules))
        assert self.lanes.save(lane, replaces=Lane(lane.order_id))

    def gap(self, *order_ids: str) -> None:
        """Lanes that wait for their second event from now on."""
        for order_id in order_ids:
            self.put(Lane(order_id, last=1, highest=3, gap_since=self.clock.now, touched_at=self.clock.now))

    def alerted(self) -> list[tuple[str, str]]:
        return [(alert.order_id, alert.trouble.value) for alert in of_lanes(self.alerts.told)]


@pytest.fixture
def world() -> SweptLanes:
    return SweptLanes()


def test_a_gap_that_stays_open_is_alerted_of_once_and_never_jumped(world: SweptLanes) -> None:
    """C5: however often a Supervisor sweeps."""
    world.gap("A")
    world.sweep(RULES.gap_within - 1)
    assert world.alerted() == []

    world.sweep(MINUTE)
    world.sweep()

    assert world.alerted() == [("A", "gap")]
    lane = world.lanes.lanes["A"]
    assert (lane.alerted, lane.due, lane.last) == (Alerted.GAP, None, 1)
    assert world.kinds().count(HistoryKind.GAP) == 1


@pytest.mark.parametrize(
    ("lane", "after", "trouble"),
    [
        (Lane("A", last=1, highest=2, blocked=Blocked(2, "amount: is missing", T0)), RULES.alert_within, "blocked"),
        (Lane("A", last=1, highest=1, touched_at=T0), MINUTE, "idle"),
    ],
    ids=["a block of which its consumer died before alerting", "a lane that nothing reaches, if that is asked for"],
)
def test_a_lane_that_waits_is_alerted_of(lane: Lane, after: int, trouble: str) -> None:
    """C6."""
    world = SweptLanes(rules=replace(RULES, idle_after=MINUTE))
    world.put(lane)
    world.sweep(after + MINUTE)

    assert world.alerted() == [("A", trouble)]
    assert world.lanes.lanes["A"].alerted.value == trouble


def test_more_lanes_than_people_can_follow_come_in_a_summary_and_are_noted(world: SweptLanes) -> None:
    names = [f"ord-{number}" for number in range(40)]
    world.gap(*names)

    figures = world.sweep(LATER)

    (summary,) = world.alerts.summaries
    assert {order_id for order_id, _ in world.alerted()} | {alert.order_id for alert in summary} == set(names)
    assert {lane.alerted for lane in world.lanes.lanes.values()} == {Alerted.GAP}
    assert (figures.listed, figures.overdue) == (40, 0)


def test_lanes_whose_alerts_did_not_get_out_stay_due(world: SweptLanes, monkeypatch: pytest.MonkeyPatch) -> None:
    """C6: until a later sweep alerts of them."""
    world.gap("A")
    before = world.lanes.lanes["A"]
    with monkeypatch.context() as throttled:
        throttled.setattr(MemoryAlerts, "send", _throttled)
        throttled.setattr(MemoryAlerts, "summarise", _throttled)
        world.sweep(LATER)
    assert world.lanes.lanes["A"] == before

    world.sweep()

    assert world.alerted() == [("A", "gap")]
    assert world.lanes.lanes["A"].due is None


def _throttled(*_: object) -> bool:
    raise Transient("the topic is throttled")


def test_what_there_was_no_time_to_sweep_stays_due(world: SweptLanes) -> None:
    world.gap("A")
    before = world.lanes.lanes["A"]
    world.sweep(LATER, lambda: 1)

    assert world.lanes.lanes["A"] == before
    world.sweep()
    assert world.alerted() == [("A", "gap")]


def test_tasks_and_lanes_are_swept_together(world: SweptLanes) -> None:
    world.ask("A")
    world.gap("A")

    figures = world.sweep(LATER)

    assert (figures.listed, figures.overdue) == (2, 1)
    assert HistoryKind.RECOVERED in world.kinds()
    assert world.alerted() == [("A", "gap")]


def test_a_corrupt_lane_does_not_stop_the_rest(world: SweptLanes) -> None:
    names = [f"ord-{number}" for number in range(8)]
    world.gap(*names)
    world.lanes.corrupt.add("ord-3")

    figures = world.sweep(LATER)

    assert sorted(order_id for order_id, _ in world.alerted()) == [name for name in names if name != "ord-3"]
    assert (figures.complete, figures.swept) == (True, SHARDS)
    assert [order_id for order_id, entry in world.telemetry.history if entry.kind is HistoryKind.CORRUPT] == ["ord-3"]


def test_a_shard_whose_lanes_cannot_be_listed_is_not_counted_as_swept(world: SweptLanes) -> None:
    world.gap("A", "B")
    world.lanes.unlisted.add(shard_of("A"))

    figures = world.sweep(LATER)

    assert world.alerted() == [("B", "gap")]
    assert (figures.complete, figures.swept) == (False, SHARDS - 1)


def test_without_traffic_it_costs_one_more_query_per_shard(world: SweptLanes) -> None:
    """S12: cost follows what is overdue."""
    world.sweep()
    assert sorted(world.lanes.listed) == list(range(SHARDS))


def test_a_shard_that_another_supervisor_holds_is_left_to_it(world: SweptLanes) -> None:
    """S15."""
    world.gap("A")
    world.clock.now += LATER
    for shard in range(SHARDS):
        assert world.leases("supervisor-2").take(shard)

    assert world.sweep().skipped == SHARDS

    assert world.lanes.listed == []


def test_the_sweep_ends_in_time(world: SweptLanes) -> None:
    world.gap(*(f"ord-{number}" for number in range(200)))
    left = iter(range(12 * SECOND, 0, -500))

    figures = world.sweep(LATER, lambda: next(left))

    assert not figures.complete
    assert 0 < figures.listed < 200
    assert len(world.alerted()) + sum(len(summary) for summary in world.alerts.summaries) == figures.listed
