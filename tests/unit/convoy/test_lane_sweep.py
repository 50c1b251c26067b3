"""The Supervisor's look at the lanes, beside that at the tasks."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from stepward.app.supervisor.supervise import Supervise
from stepward.domain.convoy.lane import Alerted, Blocked, Lane, LaneRules, due
from stepward.domain.errors import Corrupt, Transient
from stepward.domain.history import HistoryKind
from stepward.ports import Lanes
from stepward.testing.memory.lanes import MemoryLanes
from stepward.testing.memory.queues import MemoryAlerts
from tests.factories import MINUTE, SECOND, of_lanes
from tests.unit.engine.world import SHARDS, World

RULES = LaneRules(gap_within=10 * MINUTE)
PLENTY = 10 * MINUTE


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

    def patrolling(self, instance: str = "supervisor-1", lanes: Lanes | None = None) -> Supervise:
        assembly = replace(self.assembly(lane_rules=self.rules), lanes=lanes or self.lanes)
        return assembly.supervisor(instance, self.plan.agents)

    def put(self, lane: Lane) -> None:
        lane = replace(lane, revision=1, due=due(lane, self.rules))
        assert self.lanes.save(lane, replaces=Lane(lane.order_id))

    def gap(self, order_id: str) -> None:
        """A lane that waits for its second event from now on."""
        self.put(Lane(order_id, last=1, highest=3, gap_since=self.clock.now, touched_at=self.clock.now))

    def told(self) -> list[tuple[str, str]]:
        return [(alert.order_id, alert.trouble.value) for alert in of_lanes(self.alerts.told)]

    def pass_by(self, milliseconds: int) -> None:
        self.clock.now += milliseconds


def plenty() -> int:
    return PLENTY


def test_a_gap_that_stays_open_is_told_once_and_never_jumped() -> None:
    """C5: however often somebody looks."""
    world = SweptLanes()
    world.gap("A")
    world.pass_by(RULES.gap_within - 1)
    world.patrolling().sweep(plenty)
    assert world.told() == []

    world.pass_by(MINUTE)
    for _ in range(2):
        world.patrolling().sweep(plenty)

    assert world.told() == [("A", "gap")]
    lane = world.lanes.lanes["A"]
    assert (lane.alerted, lane.due, lane.last) == (Alerted.GAP, None, 1)
    assert world.kinds().count(HistoryKind.GAP) == 1


def test_a_block_that_its_consumer_died_before_telling_is_told() -> None:
    """C6."""
    world = SweptLanes()
    world.put(Lane("A", last=1, highest=2, blocked=Blocked(2, "amount: is missing", world.clock.now)))
    world.pass_by(RULES.alert_within + MINUTE)

    world.patrolling().sweep(plenty)

    assert world.told() == [("A", "blocked")]
    assert world.lanes.lanes["A"].alerted is Alerted.BLOCKED


def test_a_lane_that_nothing_reaches_is_told_where_that_is_asked_for() -> None:
    world = SweptLanes(rules=replace(RULES, idle_after=MINUTE))
    world.put(Lane("A", last=1, highest=1, touched_at=world.clock.now))
    world.pass_by(2 * MINUTE)

    world.patrolling().sweep(plenty)

    assert world.told() == [("A", "idle")]


def test_more_lanes_than_people_can_follow_are_told_in_a_summary_and_noted() -> None:
    world = SweptLanes()
    names = [f"ord-{number}" for number in range(40)]
    for name in names:
        world.gap(name)
    world.pass_by(RULES.gap_within + MINUTE)

    figures = world.patrolling().sweep(plenty)

    (summary,) = world.alerts.summaries
    assert {order_id for order_id, _ in world.told()} | {alert.order_id for alert in summary} == set(names)
    assert {lane.alerted for lane in world.lanes.lanes.values()} == {Alerted.GAP}
    assert (figures.listed, figures.overdue) == (40, 0)


def test_lanes_whose_alerts_did_not_get_out_stay_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """C6: until a later look tells of them."""
    world = SweptLanes()
    world.gap("A")
    world.pass_by(RULES.gap_within + MINUTE)
    before = world.lanes.lanes["A"]
    with monkeypatch.context() as throttled:
        throttled.setattr(MemoryAlerts, "tell", _throttled)
        throttled.setattr(MemoryAlerts, "summarise", _throttled)
        world.patrolling().sweep(plenty)
    assert world.lanes.lanes["A"] == before

    world.patrolling().sweep(plenty)

    assert world.told() == [("A", "gap")]
    assert world.lanes.lanes["A"].due is None


def _throttled(*_: object) -> bool:
    raise Transient("the topic is throttled")


def test_what_there_was_no_time_to_look_at_stays_due() -> None:
    world = SweptLanes()
    world.gap("A")
    world.pass_by(RULES.gap_within + MINUTE)
    before = world.lanes.lanes["A"]

    world.patrolling().sweep(lambda: 1)

    assert world.lanes.lanes["A"] == before
    world.patrolling().sweep(plenty)
    assert world.told() == [("A", "gap")]


def test_tasks_and_lanes_are_told_together() -> None:
    world = SweptLanes()
    world.ask("A")
    world.gap("A")
    world.pass_by(RULES.gap_within + MINUTE)

    figures = world.patrolling().sweep(plenty)

    assert (figures.listed, figures.overdue) == (2, 1)
    assert HistoryKind.RECOVERED in world.kinds()
    assert world.told() == [("A", "gap")]


def test_a_lane_that_cannot_be_read_does_not_stop_the_rest() -> None:
    world = SweptLanes()
    names = [f"ord-{number}" for number in range(8)]
    for name in names:
        world.gap(name)
    world.lanes.corrupt.add("ord-3")
    world.pass_by(RULES.gap_within + MINUTE)

    figures = world.patrolling().sweep(plenty)

    assert sorted(order_id for order_id, _ in world.told()) == [name for name in names if name != "ord-3"]
    assert (figures.complete, figures.swept) == (True, SHARDS)
    assert [order_id for order_id, entry in world.telemetry.history if entry.kind is HistoryKind.CORRUPT] == ["ord-3"]


def test_a_shard_whose_lanes_cannot_be_listed_is_not_counted_as_swept() -> None:
    world = SweptLanes()
    for name in ("A", "B"):
        world.gap(name)
    world.lanes.unlisted.add(shard_of("A"))
    world.pass_by(RULES.gap_within + MINUTE)

    figures = world.patrolling().sweep(plenty)

    assert world.told() == [("B", "gap")]
    assert (figures.complete, figures.swept) == (False, SHARDS - 1)


def test_without_traffic_it_costs_one_more_query_per_shard() -> None:
    """S12: cost follows what is overdue."""
    world = SweptLanes()

    world.patrolling().sweep(plenty)

    assert sorted(world.lanes.listed) == list(range(SHARDS))


def test_a_shard_that_another_supervisor_holds_is_left_to_it() -> None:
    """S15."""
    world = SweptLanes()
    world.gap("A")
    world.pass_by(RULES.gap_within + MINUTE)
    for shard in range(SHARDS):
        assert world.leases("supervisor-2").take(shard)

    assert world.patrolling().sweep(plenty).skipped == SHARDS

    assert world.lanes.listed == []


def test_the_patrol_ends_in_time() -> None:
    world = SweptLanes()
    for number in range(200):
        world.gap(f"ord-{number}")
    world.pass_by(RULES.gap_within + MINUTE)
    left = iter(range(12 * SECOND, 0, -500))

    figures = world.patrolling().sweep(lambda: next(left))

    assert not figures.complete
    assert 0 < figures.listed < 200
    listed = len(world.told()) + sum(len(summary) for summary in world.alerts.summaries)
    assert listed == figures.listed
