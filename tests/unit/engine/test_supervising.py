from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import count
from threading import Barrier
from typing import Any

import pytest

from stepward.adapters.lambda_.side_by_side import SideBySide
from stepward.app.optimistic import TRIES
from stepward.app.supervisor.supervise import MOST_PER_RUN, TIME_FOR_OTHERS, TIME_TO_FINISH
from stepward.domain.errors import Corrupt, Transient
from stepward.domain.health import Swept
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Retry
from stepward.domain.task.record import Loaded, ProcessState
from stepward.testing.memory.queues import MemoryQueues
from stepward.testing.memory.task_store import MemoryTaskStore
from stepward.wire.messages import decode_for_scheduler
from stepward.wiring.supervisor import CHECKS_AT_ONCE, SHARDS_AT_ONCE
from tests.factories import MINUTE, SECOND, T0, order_text, sequence
from tests.unit.engine.troubled import abandoned, troubled
from tests.unit.engine.world import SHARDS, World

PLENTY = 10 * MINUTE


@dataclass(slots=True)
class Slow(MemoryTaskStore):
    """The first reads wait until so many of them are under way at once."""

    all_at_work: Barrier = field(default_factory=lambda: Barrier(1))
    calls: Iterator[int] = field(default_factory=count)

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        if next(self.calls) < self.all_at_work.parties:
            self.all_at_work.wait(timeout=10)
        return MemoryTaskStore.load(self, order_id, with_order=with_order)


def retried(world: World) -> list[str]:
    messages = map(decode_for_scheduler, world.queues.scheduler.bodies)
    return sorted(message.order_id for message in messages if isinstance(message, Retry))


def sweep(world: World, **troubles: Any) -> Swept:
    """One run of a Supervisor whose state store has these troubles."""
    return world.supervise(troubled(world, **troubles)).sweep(lambda: PLENTY)


def test_every_overdue_task_of_every_shard_is_recovered() -> None:
    """S12: and the figures of the run say how many there were, and how old the oldest was."""
    world = abandoned(9)
    assert {world.store.shard_of(order_id) for order_id in world.store.tasks} == set(range(SHARDS))

    figures = sweep(world)

    assert retried(world) == sorted(world.store.tasks)
    assert figures == Swept(listed=9, overdue=9, oldest=MINUTE, complete=True, swept=SHARDS)
    assert world.telemetry.sweeps == [figures]


def test_other_shards_are_looked_into_only_while_there_is_plenty_of_time() -> None:
    """D2, S12: they count as swept for nobody, and a slow store leaves them to a later run."""
    world = abandoned(9)
    in_shard_0 = [order_id for order_id in world.store.tasks if world.store.shard_of(order_id) == 0]
    few = world.assembly(shards=1, most_shards=SHARDS).supervisor("supervisor-1", ["worker"])

    figures = few.sweep(lambda: TIME_FOR_OTHERS)
    assert (retried(world), figures.swept, figures.complete) == (in_shard_0, 1, True)

    figures = few.sweep(lambda: TIME_FOR_OTHERS + 1)
    assert (sorted({*retried(world), *in_shard_0}), figures.swept) == (sorted(world.store.tasks), 1)


def test_what_is_not_due_is_not_read() -> None:
    """S12: the cost follows the overdue tasks, not all of them."""
    world = abandoned(1)
    world.ask("ord-new")

    figures = sweep(world, corrupt={"ord-new": Corrupt("should not be read")})

    assert (figures.listed, world.telemetry.count(HistoryKind.CORRUPT)) == (1, 0)


def test_the_skew_margin_is_kept(world: World) -> None:
    """tl_clock_skew: what is overdue by less than the margin is not even listed."""
    world.ask()
    world.clock.now = T0 + MINUTE + world.timing.skew_margin - 1
    assert sweep(world).listed == 0

    world.clock.now += 1

    assert sweep(world).overdue == 1


def test_a_lost_start_is_found(world: World) -> None:
    """S12, I1: the order was accepted, and the message to the Scheduler was never sent."""
    world.submit.handle(order_text("ord-1"))
    world.take(world.queues.scheduler)
    world.clock.now += 2 * MINUTE

    figures = sweep(world)

    assert (retried(world), figures.overdue) == (["ord-1"], 1)


def test_a_second_run_finds_nothing_to_do() -> None:
    """S15."""
    world = abandoned(3)
    sweep(world)

    assert sweep(world) == Swept(swept=SHARDS)
    assert len(retried(world)) == 3


@pytest.mark.parametrize(
    ("trouble", "kind", "note"),
    [
        ({"corrupt": {"ord-1": Corrupt("ord-1: no such state")}}, HistoryKind.CORRUPT, "ord-1: no such state"),
        ({"corrupt": {"ord-1": Transient("throttled")}}, HistoryKind.POSTPONED, "throttled"),
        ({"contested": {"ord-1"}}, HistoryKind.POSTPONED, f"ord-1: {TRIES} writes lost the race"),
    ],
    ids=["corrupt", "busy", "others keep changing it"],
)
def test_a_record_that_cannot_be_read_never_stops_the_rest(
    trouble: Mapping[str, Any], kind: HistoryKind, note: str
) -> None:
    """S12: it is logged, and the others are recovered."""
    world = abandoned(5)

    figures = sweep(world, **trouble)

    assert retried(world) == ["ord-0", "ord-2", "ord-3", "ord-4"]
    assert (figures.listed, figures.overdue, figures.complete) == (5, 4, True)
    logged = [(order_id, entry.note) for order_id, entry in world.telemetry.history if entry.kind is kind]
    assert [(order_id, text.partition(";")[0]) for order_id, text in logged] == [("ord-1", note)]


def test_a_listing_that_is_doubled_or_stale_or_of_a_task_that_is_gone_changes_nothing() -> None:
    """Design rule 2, tl_two_supervisors: the index is a hint; the record decides, and each failure counts once."""
    world = abandoned(3)
    world.ask("ord-new")
    before = world.store.tasks["ord-new"]

    sweep(world, doubled=3, stale=("ord-new", "ord-gone"))

    assert retried(world) == ["ord-0", "ord-1", "ord-2"]
    assert world.store.tasks["ord-new"] is before
    assert all(world.store.tasks[f"ord-{number}"].steps["reserve"].failure_count == 1 for number in range(3))


def test_a_run_is_bounded_and_the_next_goes_on() -> None:
    """S12: what is not reached stays due."""
    world = abandoned(2)

    first = sweep(world, stale=("ord-gone",) * MOST_PER_RUN)
    assert (first.listed, first.complete, retried(world)) == (MOST_PER_RUN, False, [])

    assert sweep(world).complete
    assert retried(world) == ["ord-0", "ord-1"]


@pytest.mark.parametrize(
    ("left", "listed"),
    [(range(34 * SECOND, 0, -10 * SECOND), 3), ([TIME_TO_FINISH - 1], 0)],
    ids=["each task takes 10 s of 34 s", "no time at all"],
)
def test_a_run_ends_before_its_time_is_up(left: Iterable[int], listed: int) -> None:
    """S12: it stops while there is time to finish."""
    world = abandoned(6)

    figures = world.supervise().sweep(partial(next, iter(left)))

    assert (figures.listed, figures.complete, len(retried(world))) == (listed, False, listed)


def test_no_shard_is_always_last() -> None:
    """S12: under more work than a run can do, the shards take turns."""
    world = abandoned(8)
    firsts = set()
    for _ in range(SHARDS):
        world.clock.now += MINUTE
        world.supervise().sweep(partial(next, iter([PLENTY, 0])))
        firsts.add(world.store.shard_of(decode_for_scheduler(world.queues.scheduler.bodies[-1]).order_id))

    assert firsts == set(range(SHARDS))


def test_the_supervisor_requests_and_never_acts() -> None:
    """S14: it frees the step and sends a request to the Scheduler; no agent gets a message."""
    world = abandoned(1)

    sweep(world)

    assert world.queues.agents["worker"].bodies == []
    assert world.store.tasks["ord-0"].steps["reserve"].process_state is ProcessState.PENDING


@pytest.mark.parametrize(("requests", "counted"), [(2, 1), (3, 0)])
def test_a_failure_is_uncounted_while_its_agent_has_a_backlog(requests: int, counted: int) -> None:
    """Design rule 13: more requests wait than the agent takes at once, so it may never have seen this one."""
    world = abandoned(1)
    world.queues = replace(world.queues, backlog=2)
    for _ in range(requests):
        world.queues.agents["worker"].send("{}")

    sweep(world)

    assert world.store.tasks["ord-0"].steps["reserve"].failure_count == counted
    assert retried(world) == ["ord-0"]


def test_a_shard_that_cannot_be_read_never_stops_the_others() -> None:
    """S12: what is in it stays due."""
    world = abandoned(5)
    dark = world.store.shard_of("ord-0")

    figures = sweep(world, dark=frozenset({dark}))

    assert retried(world) == [f"ord-{n}" for n in range(5) if world.store.shard_of(f"ord-{n}") != dark]
    assert (figures.complete, figures.swept) == (False, SHARDS - 1)
    assert world.telemetry.count(HistoryKind.POSTPONED) == 1


class Blind(MemoryQueues):
    """Does not know how many requests wait."""

    def backlogged(self) -> frozenset[str]:
        raise Transient("GetQueueAttributes is throttled")


def test_recovery_goes_on_when_the_backlog_cannot_be_asked_for() -> None:
    """S12: it only decides which failures are uncounted."""
    world = abandoned(2)
    world.queues = Blind(world.queues.scheduler, world.queues.responses, world.queues.agents)

    sweep(world)

    assert retried(world) == ["ord-0", "ord-1"]
    assert world.telemetry.count(HistoryKind.POSTPONED) == 1


def test_checks_are_made_side_by_side_a_thousand_in_a_second() -> None:
    """S12, case 18: with reads of 5 ms and writes of 6 ms, by four shards; each order is recovered once."""
    side_by_side = SHARDS_AT_ONCE * CHECKS_AT_ONCE
    assert side_by_side * SECOND / (5 + 6) >= 1_000
    world = abandoned(3 * side_by_side)
    known = {each.name: getattr(world.store, each.name) for each in fields(world.store) if each.init}
    slow = Slow(**known, all_at_work=Barrier(side_by_side))
    shards, checks = SideBySide(SHARDS_AT_ONCE), SideBySide(CHECKS_AT_ONCE)

    figures = replace(world.supervise(slow), shard_by_shard=shards, one_by_one=checks).sweep(lambda: PLENTY)

    assert retried(world) == sorted(world.store.tasks)
    assert (figures.listed, figures.overdue, figures.swept) == (96, 96, SHARDS)


def test_a_run_that_is_over_begins_no_further_check_side_by_side() -> None:
    """S12: what is listed beyond the checks at work stays due."""
    world = abandoned(40)
    supervise = replace(world.supervise(), one_by_one=SideBySide(CHECKS_AT_ONCE))
    left = iter([PLENTY] * 10)

    figures = supervise.sweep(lambda: next(left, 0))

    assert (figures.listed, figures.complete, len(retried(world))) == (10, False, 10)


def test_a_long_step_costs_one_look() -> None:
    """S12: of a call that takes 14 minutes, in 14 sweeps."""
    world = World(plan=sequence("reserve", complete_within=14 * MINUTE))
    world.ask()
    looks = 0
    for _ in range(14):
        world.clock.now += MINUTE
        looks += sweep(world).listed

    assert (looks, retried(world)) == (1, [])
