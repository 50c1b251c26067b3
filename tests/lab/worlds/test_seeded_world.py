"""S22: a world is the same whenever its seed is, has what it promises, and its findings can be made short."""

from collections.abc import Sequence

import pytest

from stepward.domain.convoy import sequence
from stepward.domain.convoy.lane import Lane
from stepward.domain.convoy.sequence import Turn
from stepward.domain.key import TaskKey
from stepward.domain.task import claim
from stepward.domain.task.change import TaskChange
from stepward.domain.workflow.plan import PlannedStep
from stepward.testing.batches import TOGETHER
from stepward.testing.faults.profile import Delivery, Mood
from stepward.testing.faults.pulse import Kind
from stepward.testing.seeded.finding import fewest, shortest
from tests.lab.worlds.cast import ORDERS, Ours, live, report

SOME = range(1_000, 1_020)


def _claims_out_of_turn(change: TaskChange) -> list[PlannedStep]:
    """What `ready` would say if steps did not wait for each other."""
    pending = (record.name for record in change.steps.values() if record.process_state == "Pending")
    return [] if change.halted else [change.plan.by_name[name] for name in pending]


def test_a_seed_makes_the_same_world_again() -> None:
    first, _ = live(7, noted=True)
    second, _ = live(7, noted=True)

    assert first.diary.lines == second.diary.lines
    assert first.judge.tasks.tasks == second.judge.tasks.tasks


@pytest.mark.parametrize("seed", [6, 7])
def test_a_world_without_accidents_is_smooth(seed: int) -> None:
    """In the second one, two customers use the same order ids (W1)."""
    everybody = frozenset(name for name in live(seed)[0].chances.happened if name.endswith(" is ordered"))

    world, finding = live(seed, everybody)

    assert (finding, len(everybody)) == (None, ORDERS)
    assert {task.process_state for task in world.judge.tasks.tasks.values()} == {"Processed"}
    assert len({TaskKey.read(key).order_id for key in world.judge.tasks.tasks}) == (
        ORDERS if seed == 6 else ORDERS // 2
    )
    assert set(world.chances.happened) == everybody


def test_a_world_of_ledgers_alone_is_smooth_but_for_what_they_say() -> None:
    ledgers = frozenset(name for name in live(7)[0].chances.happened if name.endswith(" is sent"))

    world, finding = live(7, ledgers)

    assert finding is None
    assert set(world.chances.happened) == ledgers
    assert isinstance(world.cast, Ours)
    lanes = world.cast.lanes.lanes.values()
    assert {lane.order_id for lane in lanes if lane.created} == world.judge.tasks.tasks.keys()
    assert world.judge.tasks.tasks


def test_leaving_an_accident_out_changes_no_other() -> None:
    world, _ = live(0)
    others = frozenset(name for name in world.chances.happened if not name.startswith("ord-3"))

    fewer, _ = live(0, others)

    assert set(fewer.chances.happened) <= others
    assert any(name.startswith("ord-4") for name in fewer.chances.happened)


def test_every_kind_of_accident_happens() -> None:
    counts = sum((live(seed)[0].diary.counts for seed in SOME), start=live(0)[0].diary.counts)

    of_worlds = {"stale index", "leases ignored", "deaths", TOGETHER}
    wanted = {*Kind, *Mood, *(f"delivered {kind}" for kind in Delivery), *of_worlds} - {Kind.SUPERSEDED}
    assert wanted <= {name for name, count in counts.items() if count}


def _jumps_gaps(lane: Lane, position: int) -> Turn:
    """What `turn` would say if an event did not wait for those before it."""
    return Turn.EARLIER if position <= lane.last else Turn.NEXT


def test_a_broken_guard_of_lanes_is_found_and_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "turn", _jumps_gaps)
    _, finding = next(found for found in map(live, SOME) if found[1])
    assert finding is not None

    short = shortest(finding)

    assert finding.invariant == short.invariant == "I7"
    assert "was jumped" in short.what
    assert all(name.startswith("ledger ") for name in short.accidents)


def test_a_broken_guard_is_found_shortened_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim, "ready", _claims_out_of_turn)
    _, finding = live(2)
    assert finding is not None

    short = shortest(finding)
    told = "\n".join(report(short))

    assert (finding.invariant, short.invariant) == ("I3", "I3")
    assert (short.order_id, short.accidents) == ("ord-19", ("ledger L2 of c2 is sent",))
    assert "make simulate SEED=2" in told
    assert "revision 2" in told


@pytest.mark.parametrize("needed", [{3}, {0, 9}, {1, 5, 6}, set(range(10)), set()])
def test_no_accident_of_the_shortest_schedule_can_be_left_out(needed: set[int]) -> None:
    def breaks(names: Sequence[str]) -> bool:
        return needed <= {int(name) for name in names}

    assert {int(name) for name in fewest([str(number) for number in range(10)], breaks)} == needed
