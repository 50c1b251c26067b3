"""S15: Supervisors share the shards, and whatever happens to their leases, each failure is counted once."""

import pytest

from stepward.app.supervisor.leases import Leases
from stepward.domain.coordination.lease import Lease, lease_of
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, Misconfigured, StepwardError, Transient
from stepward.domain.health import Swept
from stepward.domain.history import HistoryKind
from stepward.ports import TaskStore
from tests.factories import MINUTE, SECOND
from tests.unit.engine.troubled import TroubledRecords, abandoned, troubled
from tests.unit.engine.world import LEASE, SHARDS, World


def sweep(world: World, instance: str = "supervisor-1", store: TaskStore | None = None) -> Swept:
    return world.supervise(store, instance).sweep(lambda: 10 * MINUTE)


@pytest.fixture
def world() -> World:
    """Orders of every shard whose first step is overdue."""
    return abandoned(9)


@pytest.fixture
def faulty(world: World) -> TroubledRecords:
    """The shared records of the world."""
    world.shared_records = faulty = TroubledRecords()
    return faulty


def failures(world: World) -> set[int]:
    return {task.steps["reserve"].failure_count for task in world.store.tasks.values()}


def held_by_the_dead(world: World, *shards: int) -> None:
    """A Supervisor took these and died."""
    for shard in shards:
        assert world.leases("supervisor-0").take(shard)


def lease(world: World, shard: int) -> Lease:
    found = lease_of(world.shared_records.kept[f"lease/{shard}"].body)
    assert found is not None
    return found


def test_a_shard_that_another_one_holds_is_skipped_and_counted(world: World) -> None:
    """S15."""
    held_by_the_dead(world, 2)

    figures = sweep(world)

    assert (figures.swept, figures.skipped, figures.complete) == (SHARDS - 1, 1, True)
    untouched = {order_id for order_id, task in world.store.tasks.items() if not task.steps["reserve"].failure_count}
    assert untouched == {order_id for order_id in world.store.tasks if world.store.shard_of(order_id) == 2}


def test_a_dead_ones_shard_is_taken_over_within_two_periods(world: World) -> None:
    """S15: Supervisors are woken every minute."""
    held_by_the_dead(world, *range(SHARDS))
    world.clock.now += MINUTE
    assert sweep(world).skipped == SHARDS

    world.clock.now += MINUTE

    assert sweep(world).swept == SHARDS
    assert failures(world) == {1}


def test_a_shard_is_given_back_once_it_is_swept(world: World) -> None:
    """S15: the next one finds it free, and the fence higher."""
    for number in (1, 2, 3):
        figures = sweep(world, f"supervisor-{number}")
        assert (figures.swept, figures.skipped) == (SHARDS, 0)

    assert [lease(world, shard).fence for shard in range(SHARDS)] == [3] * SHARDS


def test_a_shard_is_swept_by_one_at_a_time(world: World) -> None:
    """S15, tl_two_supervisors: a second one that runs through while the first is busy skips just that shard."""
    found: list[tuple[int, int]] = []

    def another_runs(_shard: int) -> None:
        figures = sweep(world, "supervisor-2")
        found.append((figures.swept, figures.skipped))

    sweep(world, store=troubled(world, meanwhile=another_runs))

    assert found == [(SHARDS - 1, 1)] * SHARDS
    assert failures(world) == {1}


def test_one_that_was_faster_keeps_the_shard(world: World, faulty: TroubledRecords) -> None:
    """S15: the other one takes it between our read and our write."""
    faulty.before_write = lambda: world.leases("supervisor-2").take(0)
    assert world.leases("supervisor-1").take(0) is None
    assert lease(world, 0).holder == "supervisor-2"


def test_a_run_leaves_a_shard_when_its_lease_is_over(world: World) -> None:
    """tl_zombie_reply: one that was held up may have been replaced; what it has not reached stays due."""
    first: list[int] = []

    def hangs(shard: int) -> None:
        if not first:
            first.append(shard)
            world.clock.now += LEASE

    figures = sweep(world, store=troubled(world, meanwhile=hangs))

    assert (figures.complete, figures.swept) == (False, SHARDS - 1)
    left = {world.store.shard_of(name) for name, task in world.store.tasks.items() if task.revision == 2}
    assert left == set(first)


@pytest.mark.parametrize("error", [Transient("throttled"), Misconfigured("no such table"), Corrupt("not JSON")])
@pytest.mark.parametrize("when", ["unread", "unwritten"])
def test_a_lease_that_cannot_be_had_keeps_nobody_from_sweeping(
    world: World, faulty: TroubledRecords, when: str, error: StepwardError
) -> None:
    """S12, S15: two of them, each without a lease; every recovery is conditional, so each failure counts once."""
    setattr(faulty, when, error)
    for number in (1, 2):
        leases = world.leases(f"supervisor-{number}")
        assert [leases.take(shard) is not None for shard in range(SHARDS)] == [True] * SHARDS

    figures = sweep(world)
    sweep(world, "supervisor-2")

    assert (figures.swept, figures.overdue, failures(world)) == (SHARDS, 9, {1})
    assert world.telemetry.count(HistoryKind.UNLEASED) >= SHARDS
    assert any(str(error) in entry.note for _, entry in world.telemetry.history)


def test_a_lease_that_cannot_be_given_back_runs_out(world: World, faulty: TroubledRecords) -> None:
    """S15."""
    leases = world.leases()
    hold = leases.take(0)
    assert hold is not None
    faulty.unwritten = Transient("throttled")
    leases.give_back(0, hold)
    faulty.unwritten = None
    assert world.telemetry.count(HistoryKind.UNLEASED) == 1
    assert world.leases("supervisor-2").take(0) is None

    world.clock.now += LEASE + world.timing.skew_margin

    assert world.leases("supervisor-2").take(0)


def test_one_that_was_replaced_does_not_give_back_the_others_lease(world: World) -> None:
    """tl_zombie_reply: its write is conditional on its own."""
    leases = world.leases("supervisor-1")
    hold = leases.take(0)
    assert hold is not None
    world.clock.now += LEASE + world.timing.skew_margin
    assert world.leases("supervisor-2").take(0)

    leases.give_back(0, hold)

    assert world.leases("supervisor-3").take(0) is None


def test_the_lease_begins_before_it_is_asked_for(world: World, faulty: TroubledRecords) -> None:
    """delta-rs 153: a slow write makes it shorter for its holder, never longer."""
    before = world.clock.now

    def slow_write() -> None:
        world.clock.now += 20 * SECOND

    faulty.before_write = slow_write
    hold = world.leases().take(0)

    assert hold is not None
    assert hold.until == before + LEASE


def test_a_record_that_no_supervisor_wrote_holds_nobody_up(world: World) -> None:
    """S15."""
    world.shared_records.write(SharedRecord("lease/0", 5, {"holder": 1}), replaces=None)
    assert sweep(world).swept == SHARDS


def test_supervisors_that_are_woken_together_begin_at_different_shards() -> None:
    """S15: with eight of them, not all at one."""
    world = abandoned(0)
    firsts = set()
    for number in range(8):
        seen: list[int] = []
        sweep(world, f"supervisor-{number}", troubled(world, meanwhile=seen.append))
        firsts.add(seen[0])

    assert len(firsts) > 1


def test_leases_know_nothing_of_tasks() -> None:
    """S14: a lease names a shard and a holder."""
    world = abandoned(1)
    hold = Leases(world.shared_records, world.telemetry, "supervisor-1", LEASE, 0, world.clock).take(3)

    assert hold is not None
    assert hold.record is not None
    assert hold.record.known == world.shared_records.kept["lease/3"]
    assert set(world.shared_records.kept["lease/3"].body) == {"holder", "fence", "until"}
